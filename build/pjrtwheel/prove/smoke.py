# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run smoke programs, each in a process of its own, and collect what became of them."""

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.environment.processes import ask_process, run_all
from pjrtwheel.progress import LINES, Progress
from pjrtwheel.prove.inside import smoke as inside
from pjrtwheel.record.proofs import Level, Outcome, ProgramResult

TIME_LIMIT = 300.0
# References are in float64: accelerators must not round to fewer bits than asked for. And several programs share one.
_VARIABLES = {"JAX_DEFAULT_MATMUL_PRECISION": "highest", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}


def run_programs(
    python: Path,
    programs: Sequence[Path],
    backend: Backend | None,
    *,
    jobs: int = 0,
    title: str = "programs",
    progress: Progress = LINES,
) -> tuple[ProgramResult, ...]:
    """Run every program in the environment of `python`, on the plugin of a backend, or on any client without one.

    Without `jobs` as many run at once as there are cores, at most four. One after the other they take long, and each is
    named when it has ended. The `title` is that of the step which shows them.
    """
    workers = jobs or min(4, os.cpu_count() or 1)

    with progress.step(title, len(programs)) as step:

        def run(program: Path) -> ProgramResult:
            with step.item(program.stem):
                result = run_program(python, program, backend)
            if jobs == 1:
                progress.say(f"  {result.program:<14}{result.seconds:6.1f} s  {result.outcome}")
            return result

        return run_all(run, programs, workers)


def run_program(python: Path, program: Path, backend: Backend | None, *, seconds: float = TIME_LIMIT) -> ProgramResult:
    """Run one program from an empty directory, in Python's isolated mode, within a time limit."""
    plugin = [json.dumps({"name": backend.pjrt_name, "library": backend.library_member})] if backend else []
    command = [str(python), "-I", "-X", "faulthandler", inside.__file__, str(program.resolve()), *plugin]
    started = time.monotonic()
    answer, end = ask_process(command, seconds, variables=_VARIABLES)
    elapsed = round(time.monotonic() - started, 2)
    if answer is None:
        return ProgramResult(program.stem, Outcome.FAILED, Level.DEVICE, elapsed, end.explain())
    outcome, level, detail = Outcome(answer["outcome"]), Level(answer["level"]), answer["detail"].strip()
    if outcome is Outcome.PASSED and end.status != 0:
        # The program was right, but its process did not end in order: a crash at exit is a failure as well.
        outcome, detail = Outcome.FAILED, end.explain()
    return ProgramResult(program.stem, outcome, level, elapsed, detail)
