# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Compile programs ahead of time for chips that are not here: the evidence for level `aot`."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pjrtwheel.backend import Backend
from pjrtwheel.environment.process import describe_exit, run_process
from pjrtwheel.errors import ProofError
from pjrtwheel.prove import compiling
from pjrtwheel.prove.executable import find_code
from pjrtwheel.prove.judge import Compilation, TargetProof, prove_target
from pjrtwheel.prove.targets import Target

TIME_LIMIT = 600.0
COMPILER = Path(compiling.__file__)


def find_programs(root: Path) -> tuple[Path, ...]:
    """Return the programs of the repository that are compiled ahead of time, in order of name."""
    return tuple(sorted((root / "tests" / "aot").glob("[a-z]*.py")))


def compile_for_targets(
    python: Path, targets: Sequence[Target], programs: Sequence[Path], backend: Backend
) -> tuple[TargetProof, ...]:
    """Compile every program for every target, one target after the other.

    Args:
        python: Interpreter of the environment that the wheel is installed in.
        targets: The chips.
        programs: The programs; see `compiling`.
        backend: The plugin that must do it.
    """
    proofs = []
    for target in targets:
        proofs.append(compile_for_target(python, target, programs, backend))
        print(f"  {target.name:<14}{proofs[-1].seconds:6.1f} s  {proofs[-1].summarize()}", file=sys.stderr, flush=True)
    return tuple(proofs)


def compile_for_target(
    python: Path, target: Target, programs: Sequence[Path], backend: Backend, *, seconds: float = TIME_LIMIT
) -> TargetProof:
    """Compile every program for one target, all in one process; after one that kills it, in another one."""
    started = time.monotonic()
    found: list[Compilation] = []
    with tempfile.TemporaryDirectory(prefix="aot-") as scratch:
        while True:
            folder = Path(scratch) / str(len(found))
            folder.mkdir()
            finished, death = _run(python, _request(target, programs, backend, found), folder, target, seconds)
            answers = list(read_log(folder, death))
            found += answers
            # A process that died before it began anything would do so again.
            if finished or not answers:
                break
    if not finished or not found:
        found.append(Compilation("", "", 0, 0.0, error="no program was compiled" if finished else death))
    return prove_target(target, found, time.monotonic() - started)


def read_log(folder: Path, death: str) -> Iterator[Compilation]:
    """Yield what a process says it compiled; what it had begun when it died ends with the reason.

    Args:
        folder: Its results.
        death: How it ended.
    """
    steps = [entry for entry in _read_entries(folder / "log") if "program" in entry]
    ended = {(entry["topology"], entry["program"]) for entry in steps if "seconds" in entry}
    for entry in steps:
        if "seconds" in entry:
            yield _read_compilation(folder, entry)
        elif (entry["topology"], entry["program"]) not in ended:
            yield Compilation(entry["program"], entry["topology"], 0, 0.0, error=death)


def _read_entries(log: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines that were written whole; a process that is killed may leave its last one in the middle."""
    for line in log.read_bytes().splitlines(keepends=True) if log.is_file() else []:
        if line.endswith(b"\n"):
            yield json.loads(line)


def _read_compilation(folder: Path, entry: dict[str, Any]) -> Compilation:
    """Return a compilation that came to its end; an executable that is not laid out as XLA's is an error of it."""
    code: tuple[str, ...] = ()
    error = entry.get("error", "")
    if "file" in entry:
        try:
            code = find_code((folder / entry["file"]).read_bytes())
        except ProofError as unread:
            error = f"the executable cannot be read: {unread.what}"
    return Compilation(
        program=entry["program"],
        topology=entry["topology"],
        devices=entry["devices"],
        seconds=entry["seconds"],
        code=code,
        calls=tuple(entry.get("calls", ())),
        error=error,
    )


def _request(target: Target, programs: Sequence[Path], backend: Backend, done: Sequence[Compilation]) -> dict[str, Any]:
    """Return what the process in the environment is asked for, as JSON values."""
    return {
        "platform": target.platform,
        "library": backend.library_member,
        "programs": [str(program.resolve()) for program in programs],
        "topologies": [
            asdict(topology) | {"options": {**target.options, **topology.options}} for topology in target.topologies
        ],
        "done": [[compilation.topology, compilation.program] for compilation in done],
    }


def _run(python: Path, request: dict[str, Any], folder: Path, target: Target, seconds: float) -> tuple[bool, str]:
    """Run one process, and return whether it came to its end, and how it ended otherwise."""
    question = folder / "request.json"
    question.write_text(json.dumps(request), "utf-8")
    work = folder / "work"
    work.mkdir()
    command = [str(python), "-I", "-X", "faulthandler", str(COMPILER), str(question), str(folder)]
    status, output = run_process(command, work, seconds, **target.environment)
    return status == 0, "\n".join([describe_exit(status, seconds), output]).strip()
