# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run one test file on one client, through crashes and hangs, until every case has an outcome."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.conformance.cases import Case, Outcome, parse_journal

# Run by path, never imported: it needs pytest, which is in the environment under test and not in the tooling's.
_RECORDER = Path(__file__).with_name("recorder.py")
_POLL_SECONDS = 0.5
_TAIL = 2000
# pytest's exit status when all passed, some failed, the file could not be imported, and nothing was left to run.
_ORDERLY = frozenset({0, 1, 2, 5})


@dataclass(frozen=True, slots=True)
class Limits:
    """When to give up.

    Attributes:
        file_seconds: Time for one file on one client; cases beyond it count as not run.
        case_seconds: Time for one case; beyond it the case counts as timed out and the rest goes on.
    """

    file_seconds: float
    case_seconds: float


@dataclass(frozen=True, slots=True)
class FileRun:
    """One test file on one client.

    Attributes:
        file: Name of the file.
        cases: Name → case.
        client: `plugin` or `built-in`, as the test processes themselves said.
        seconds: How long it took in all.
    """

    file: str
    cases: dict[str, Case]
    client: str
    seconds: float


def run_file(python: Path, test_file: Path, environ: Mapping[str, str], limits: Limits) -> FileRun:
    """Run every case of a file; after a crash or a hang, start again behind the case that caused it.

    Args:
        python: Interpreter of the environment under test.
        test_file: The file.
        environ: The environment of the test processes; says which client they use.
        limits: When to give up.
    """
    started = time.monotonic()
    cases: dict[str, Case] = {}
    collected: tuple[str, ...] = ()
    clients: set[str] = set()
    while True:
        left = limits.file_seconds - (time.monotonic() - started)
        with tempfile.TemporaryDirectory(prefix="conformance-") as scratch:
            end = _run_once(
                python,
                test_file,
                environ,
                Path(scratch),
                done=cases,
                case_seconds=limits.case_seconds,
                file_seconds=left,
            )
            journal = parse_journal((Path(scratch) / "journal").read_text("utf-8").splitlines())
        cases |= journal.finished
        collected = collected or journal.collected
        clients |= {journal.client} - {""}
        if not journal.running:
            if end.status not in _ORDERLY:
                # Neither a case nor the file's import: the process broke outside of them.
                name = f"{test_file.name}::process"
                cases[name] = Case(name, end.outcome, end.text)
            break
        cases[journal.running] = Case(journal.running, end.outcome, end.text)
        if time.monotonic() - started >= limits.file_seconds:
            break
    cases |= {name: Case(name, Outcome.NOT_RUN, "time limit of the file") for name in collected if name not in cases}
    return FileRun(test_file.name, cases, "/".join(sorted(clients)) or "unknown", round(time.monotonic() - started, 1))


@dataclass(frozen=True, slots=True)
class _End:
    """How one test process ended: its status (nothing if it was stopped), what that means, and its last words."""

    status: int | None
    outcome: Outcome
    text: str


def _run_once(
    python: Path,
    test_file: Path,
    environ: Mapping[str, str],
    scratch: Path,
    *,
    done: Mapping[str, Case],
    case_seconds: float,
    file_seconds: float,
) -> _End:
    """Run one process over the cases that are left."""
    (scratch / "done").write_text(json.dumps(sorted(done)), "utf-8")
    (scratch / "journal").touch()
    (scratch / "work").mkdir()
    with (scratch / "output").open("wb") as output:
        process = subprocess.Popen(
            [str(python), "-I", str(_RECORDER), str(scratch / "journal"), str(test_file), str(scratch / "done")],
            cwd=scratch / "work",
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        status = _wait(process, scratch / "journal", case_seconds, file_seconds)
    text = (scratch / "output").read_bytes()[-_TAIL:].decode("utf-8", "replace")
    if status is None:
        return _End(None, Outcome.TIMED_OUT, "no end in sight")
    name = f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
    return _End(status, Outcome.CRASHED, f"{name}: {' '.join(text.split())[-300:]}")


def _wait(process: subprocess.Popen[bytes], journal: Path, case_seconds: float, file_seconds: float) -> int | None:
    """Wait for a process as long as its journal grows; stop it and return nothing otherwise."""
    started = changed = time.monotonic()
    size = 0
    while True:
        try:
            return process.wait(_POLL_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        now = time.monotonic()
        if journal.stat().st_size != size:
            size, changed = journal.stat().st_size, now
        if now - changed > case_seconds or now - started > file_seconds:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None
