# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Compile programs ahead of time for chips that are not here: the evidence for level `aot`."""

import json
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pjrtwheel.backend import Backend
from pjrtwheel.environment.processes import run_process
from pjrtwheel.errors import ProofError
from pjrtwheel.progress import LINES, Progress
from pjrtwheel.prove.executable import find_code
from pjrtwheel.prove.inputs import Target
from pjrtwheel.prove.inside import compile as inside
from pjrtwheel.record.proofs import COMPILED, Compilation, Level, Outcome, ProgramResult, ResultKind, TargetProof

TIME_LIMIT = 600.0


def compile_for_targets(
    python: Path, targets: Sequence[Target], programs: Sequence[Path], backend: Backend, progress: Progress = LINES
) -> tuple[TargetProof, ...]:
    """Compile every program for every target, one target after the other."""
    proofs = []
    with progress.step("compile ahead of time", len(targets)) as step:
        for target in targets:
            with step.item(f"{target.name}, {len(programs)} programs"):
                proofs.append(compile_for_target(python, target, programs, backend))
            progress.say(f"  {target.name:<14}{proofs[-1].seconds:6.1f} s  {proofs[-1].summarize()}")
    return tuple(proofs)


def compile_for_target(python: Path, target: Target, programs: Sequence[Path], backend: Backend) -> TargetProof:
    """Compile every program for one target, all in one process; after one that kills it, in another one."""
    started = time.monotonic()
    found: list[Compilation] = []
    with tempfile.TemporaryDirectory(prefix="aot-") as scratch:
        while True:
            folder = Path(scratch) / str(len(found))
            folder.mkdir()
            question = folder / "request.json"
            question.write_text(json.dumps(_request(target, programs, backend, found)), "utf-8")
            command = [str(python), "-I", "-X", "faulthandler", inside.__file__, str(question), str(folder)]
            end = run_process(command, TIME_LIMIT, variables=target.environment)
            answers = list(read_log(folder, end.explain()))
            found += answers
            # A process that died before it began anything would do so again.
            if end.status == 0 or not answers:
                break
    if end.status != 0 or not found:
        found.append(Compilation("", "", 0, 0.0, error="no program was compiled" if end.status == 0 else end.explain()))
    return prove_target(target, found, time.monotonic() - started)


def prove_target(target: Target, compilations: Iterable[Compilation], seconds: float) -> TargetProof:
    """Judge all compilations for one chip."""
    judged = tuple(judge(target, compilation) for compilation in compilations)
    code = sorted({name for compilation in judged if compilation.passed for name in compilation.code})
    return TargetProof(target.name, target.summary, tuple(code), round(seconds, 1), judged)


def judge(target: Target, found: Compilation) -> Compilation:
    """Return whether a compilation is what the target's file expects: code for the chip alone, or a known error.

    Of an error its first line is kept; the rest says where it came from.
    """
    outcome, detail = _compare(target, found)
    return replace(found, outcome=outcome, detail=detail, error=_first_line(found.error))


def _compare(target: Target, found: Compilation) -> tuple[Outcome, str]:
    failure = target.failure_of(found.program)
    if failure:
        fault = failure.describe_fault(found.error)
        said = ": ".join(filter(None, (f"{target.name}.toml", fault, _first_line(found.error))))
        return (Outcome.FAILED, said) if fault else (Outcome.EXPECTED, failure.reason)
    if found.error:
        return Outcome.FAILED, found.error
    if found.code != target.code:
        return Outcome.FAILED, f"code for {', '.join(found.code) or 'none'}, where {', '.join(target.code)} is expected"
    return Outcome.PASSED, ""


def summarize_target(proof: TargetProof) -> ProgramResult:
    """Return the proof of a target as one result; what fails as expected shows nothing about the wheel."""
    failures = [
        f"{failed.program or 'starting'} ({failed.topology}): {_first_line(failed.detail)}"
        for failed in proof.failures()
    ]
    return ProgramResult(
        program=f"{COMPILED}{proof.name}",
        outcome=Outcome.FAILED if failures else Outcome.PASSED if proof.compiled else Outcome.EXPECTED,
        level=Level.AOT if proof.compiled else Level.STATIC,
        seconds=proof.seconds,
        detail="\n".join(failures) or proof.summarize(),
        kind=ResultKind.TARGET,
    )


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def read_log(folder: Path, death: str) -> Iterator[Compilation]:
    """Yield what a process says it compiled; what it had begun when it died ends with the reason."""
    log = folder / "log"
    lines = log.read_bytes().splitlines(keepends=True) if log.is_file() else []
    # A process that is killed may leave its last line in the middle.
    entries = [json.loads(line) for line in lines if line.endswith(b"\n")]
    yield from (_read_compilation(folder, entry) for entry in entries if "seconds" in entry)
    if entries and "seconds" not in entries[-1]:
        yield Compilation(entries[-1]["program"], entries[-1]["topology"], 0, 0.0, error=death)


def _read_compilation(folder: Path, entry: dict[str, Any]) -> Compilation:
    """Return a compilation that came to its end; an executable that is not laid out as XLA's is an error of it."""
    code: tuple[str, ...] = ()
    error = entry.get("error", "")
    if "file" in entry:
        try:
            code = find_code((folder / entry["file"]).read_bytes())
        except ProofError as unread:
            error = f"the executable cannot be read: {unread.what}"
    known = {key: entry[key] for key in ("program", "topology", "devices", "seconds")}
    return Compilation(**known, code=code, calls=tuple(entry.get("calls", ())), error=error)


def _request(target: Target, programs: Sequence[Path], backend: Backend, done: Sequence[Compilation]) -> dict[str, Any]:
    return {
        "package": backend.package,
        "chip": target.name,
        "library": backend.library_member,
        "programs": [str(program.resolve()) for program in programs],
        "topologies": [
            {"label": label, "programs": topology.programs} for label, topology in target.topologies.items()
        ],
        "done": [[compilation.topology, compilation.program] for compilation in done],
    }
