# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run one test file on one client with pytest, through crashes and hangs, until every case has an outcome.

What became of each case is read from the log that pytest-reportlog writes line by line.
"""

from __future__ import annotations

import json
import shlex
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from pjrtwheel.environment.processes import Ended, run_process

# Ends the name of the case that stands for importing a file, which there is only when that fails.
IMPORT = "::import"
_DETAIL = 400


class CaseOutcome(StrEnum):
    """What became of one case."""

    PASSED = "passed"
    SKIPPED = "skipped"
    FAILED = "failed"
    CRASHED = "crashed"
    TIMED_OUT = "timed out"
    NOT_RUN = "not run"

    def is_bad(self) -> bool:
        """Return whether the case ran and did not do what it should."""
        return self in {CaseOutcome.FAILED, CaseOutcome.CRASHED, CaseOutcome.TIMED_OUT}


_WORST = (CaseOutcome.PASSED, CaseOutcome.SKIPPED, CaseOutcome.FAILED)


@dataclass(frozen=True, slots=True)
class Case:
    """One test case on one client.

    Attributes:
        name: As pytest names it, such as `lax_test.py::LaxTest::testSlice0`.
        detail: The last line of the failure, or why it was skipped.
    """

    name: str
    outcome: CaseOutcome
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ReportLog:
    """What one test process left behind, however it ended.

    Attributes:
        cases: The cases that ended, by name.
        running: The case that had begun and not ended, if that is known; empty otherwise.
        status: pytest's exit status; nothing if it did not come to its end.
        client: The client that JAX ran on, `plugin` or `built-in`; empty if that is not known.
    """

    cases: dict[str, Case]
    running: str
    status: int | None
    client: str = ""


def parse_report_log(lines: Iterable[str]) -> ReportLog:
    """Read a log; a last line that was cut short by a crash is ignored."""
    seen: dict[str, Case] = {}
    ended: dict[str, Case] = {}
    status, client = None, ""
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        match entry["$report_type"]:
            case "SessionFinish":
                status = entry["exitstatus"]
            case "Client":
                client = entry["client"]
            case "CollectReport" if entry["outcome"] != "passed":
                case = _read_case(entry, entry["nodeid"] + IMPORT)
                ended[case.name] = case
            case kind if kind.endswith("Report") and "when" in entry:
                # Of set-up, call, tear-down and subtests the worst counts.
                case = _read_case(entry, entry["nodeid"])
                before = seen.get(case.name, Case(case.name, CaseOutcome.PASSED))
                seen[case.name] = case if _WORST.index(case.outcome) > _WORST.index(before.outcome) else before
                if entry["when"] == "teardown":
                    ended[case.name] = seen[case.name]
    return ReportLog(ended, next((name for name in reversed(seen) if name not in ended), ""), status, client)


def _read_case(entry: Mapping[str, Any], name: str) -> Case:
    match entry["longrepr"]:
        case [_, _, reason]:
            text = reason
        case {"reprcrash": {"message": message}}:
            text = message
        case other:
            text = str(other or "")
    return Case(name, CaseOutcome(entry["outcome"]), " ".join(text.split())[:_DETAIL])


def count_outcomes(cases: Mapping[str, Case]) -> dict[CaseOutcome, int]:
    """Count the cases of each outcome."""
    return {outcome: sum(case.outcome is outcome for case in cases.values()) for outcome in CaseOutcome}


_INSIDE = Path(__file__).with_name("inside.py")
# pytest's exit status when all passed, some failed, the file could not be imported, and nothing was left to run.
_ORDERLY = frozenset({0, 1, 2, 5})
_LISTING_SECONDS = 900.0  # importing a file may take long, but says nothing about its cases
_EVERYTHING = 1 << 30  # characters of output: names of all cases, or what faulthandler says of every thread


@dataclass(frozen=True, slots=True)
class Limits:
    """When to give up.

    Attributes:
        case_seconds: Time for one case; beyond it the case counts as timed out and the rest goes on.
        file_seconds: Time for one file on one client; cases beyond it count as not run.
    """

    case_seconds: float
    file_seconds: float = 3600


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
