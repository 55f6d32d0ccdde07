# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run one test file on one client with pytest, through crashes and hangs, until every case has an outcome."""

from __future__ import annotations

import shlex
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.conformance.cases import Case, CaseOutcome, ReportLog, parse_report_log
from pjrtwheel.environment.processes import Ended, run_process

_INSIDE = Path(__file__).with_name("inside.py")
# pytest's exit status when all passed, some failed, the file could not be imported, and nothing was left to run.
_ORDERLY = frozenset({0, 1, 2, 5})
_LISTING_SECONDS = 900.0  # importing a file may take long, but says nothing about its cases
_EVERYTHING = 1 << 30  # characters of output: names of all cases, or what faulthandler says of every thread


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
        cases: Its cases, by name.
        seconds: How long it took in all.
        client: What the test processes said JAX ran on, `plugin` or `built-in`; empty if none came to its end.
    """

    file: str
    cases: Mapping[str, Case]
    seconds: float
    client: str = ""


def run_file(python: Path, test_file: Path, environ: Mapping[str, str], limits: Limits) -> FileRun:
    """Run every case of a file; after a crash or a hang, start again behind the case that caused it.

    The environment says which client the test processes use.
    """
    started = time.monotonic()
    cases: dict[str, Case] = {}
    clients: set[str] = set()
    collected: tuple[str, ...] = ()
    left: Sequence[str] = (test_file.name,)
    while left:
        seconds = max(limits.file_seconds - (time.monotonic() - started), 0)
        end, log = _run_cases(python, test_file, left, environ, case_seconds=limits.case_seconds, seconds=seconds)
        cases |= log.cases
        clients |= {log.client} - {""}
        if log.status == end.status and end.status in _ORDERLY:
            break
        collected = collected or _list_cases(python, test_file, environ)
        left = [name for name in collected if name not in cases]
        # Where no case is at fault, the process broke at its end, or before it came to any.
        guilty = log.running or (left[0] if left and log.status is None else f"{test_file.name}::process")
        cases[guilty] = _describe_end(guilty, end)
        if end.status is None or guilty not in left or time.monotonic() - started >= limits.file_seconds:
            break
        left = [name for name in left if name != guilty]
    cases |= {
        name: Case(name, CaseOutcome.NOT_RUN, "time limit of the file") for name in collected if name not in cases
    }
    return FileRun(test_file.name, cases, round(time.monotonic() - started, 1), " and ".join(sorted(clients)))


def _run_cases(
    python: Path,
    test_file: Path,
    names: Sequence[str],
    environ: Mapping[str, str],
    *,
    case_seconds: float,
    seconds: float,
) -> tuple[Ended, ReportLog]:
    """Run one process over some cases; faulthandler ends it when a case takes too long, whoever holds the GIL."""
    with tempfile.TemporaryDirectory(prefix="conformance-") as scratch:
        work, log, arguments = (Path(scratch) / name for name in ("work", "log", "arguments"))
        work.mkdir()
        arguments.write_text("".join(f"{test_file.parent / name}\n" for name in names), "utf-8")
        options = [f"--report-log={log}", "--tb=short", "-o", f"faulthandler_timeout={case_seconds}"]
        options += ["-o", "faulthandler_exit_on_timeout=true", f"@{arguments}"]
        command = [*_pytest(python, test_file.parent), *options]
        end = run_process(command, work, seconds, environ=environ, kept=_EVERYTHING)
        return end, parse_report_log(log.read_text("utf-8").splitlines() if log.is_file() else [])


def _list_cases(python: Path, test_file: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of all cases of a file, in order; none if it cannot be imported."""
    with tempfile.TemporaryDirectory(prefix="conformance-") as scratch:
        command = [*_pytest(python, test_file.parent), "--collect-only", str(test_file)]
        end = run_process(command, Path(scratch), _LISTING_SECONDS, environ=environ, kept=_EVERYTHING)
    return tuple(line for line in end.output.splitlines() if line.startswith(f"{test_file.name}::"))


def _pytest(python: Path, folder: Path) -> list[str]:
    """Return the command of pytest, without any configuration that is not given here."""
    options = ["-q", "-p", "no:cacheprovider", "--import-mode=importlib", "-c", "/dev/null", f"--rootdir={folder}"]
    return [str(python), "-I", str(_INSIDE), *options, "-o", f"pythonpath={shlex.quote(str(folder))}"]


def _describe_end(name: str, end: Ended) -> Case:
    if end.status is None:
        return Case(name, CaseOutcome.TIMED_OUT, "time limit of the file")
    if end.status == 1 and "Timeout (" in end.output:  # so says faulthandler
        return Case(name, CaseOutcome.TIMED_OUT, "time limit of a case")
    return Case(name, CaseOutcome.CRASHED, f"{end.describe()}: {' '.join(end.output[-2000:].split())[-300:]}")
