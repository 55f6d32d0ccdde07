# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run smoke programs, each in a process of its own, and collect what became of them."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.environment.process import describe_exit, end_processes, run_process
from pjrtwheel.prove import harness
from pjrtwheel.prove.levels import Level, Outcome, ProgramResult

TIME_LIMIT = 300.0
HARNESS = Path(harness.__file__)
# References are in float64: accelerators must not round to fewer bits than asked for. And several programs share one.
_ENVIRONMENT = {"JAX_DEFAULT_MATMUL_PRECISION": "highest", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}


def find_programs(root: Path) -> tuple[Path, ...]:
    """Return the smoke programs of the repository, in order of name."""
    return tuple(sorted((root / "tests" / "smoke").glob("[a-z]*.py")))


def describe_plugin(backend: Backend) -> str:
    """Return what the harness must know of the plugin, as JSON."""
    return json.dumps({"name": backend.pjrt_name, "library": backend.library_member})


def run_programs(
    python: Path, programs: Sequence[Path], backend: Backend | None, *, seconds: float = TIME_LIMIT, jobs: int = 0
) -> tuple[ProgramResult, ...]:
    """Run every program in the environment of `python`.

    Args:
        python: Interpreter of the environment.
        programs: The programs; see `harness`.
        backend: The plugin that each must run on; nothing accepts any client.
        seconds: Time limit of each program.
        jobs: How many run at once; 0 means one per core, at most four. One after the other they take long, and each
            is named on stderr when it has ended.
    """
    workers = jobs or min(4, os.cpu_count() or 1)

    def run(program: Path) -> ProgramResult:
        result = run_program(python, program, backend, seconds=seconds)
        if jobs == 1:
            print(f"  {result.program:<14}{result.seconds:6.1f} s  {result.outcome}", file=sys.stderr, flush=True)
        return result

    with ThreadPoolExecutor(workers) as pool:
        try:
            return tuple(pool.map(run, programs))
        except BaseException:
            end_processes()  # or the pool would wait for them
            raise


def run_program(python: Path, program: Path, backend: Backend | None, *, seconds: float = TIME_LIMIT) -> ProgramResult:
    """Run one program from an empty directory, in Python's isolated mode, within a time limit."""
    with tempfile.TemporaryDirectory(prefix="smoke-") as scratch:
        result = Path(scratch) / "result.json"
        work = Path(scratch) / "work"
        work.mkdir()
        command = [str(python), "-I", "-X", "faulthandler", str(HARNESS), str(program.resolve()), str(result)]
        command += [describe_plugin(backend)] if backend else []
        started = time.monotonic()
        status, output = run_process(command, work, seconds, **_ENVIRONMENT)
        elapsed = round(time.monotonic() - started, 2)
        if result.is_file():
            answer = json.loads(result.read_text("utf-8"))
            outcome, level, detail = Outcome(answer["outcome"]), Level(answer["level"]), answer["detail"]
        else:
            outcome, level, detail = Outcome.FAILED, Level.DEVICE, "\n".join([describe_exit(status, seconds), output])
        if outcome is Outcome.PASSED and status != 0:
            # The program was right, but its process did not end in order: a crash at exit is a failure as well.
            outcome, detail = Outcome.FAILED, "\n".join([describe_exit(status, seconds), output])
    return ProgramResult(program.stem, outcome, level, elapsed, detail.strip())
