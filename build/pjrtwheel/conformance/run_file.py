# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run one test file on one client with pytest, through crashes and hangs.

The cases run in a worker of pytest-xdist, which is replaced when a case kills it. What became of each case is read from
the log that pytest-reportlog writes line by line.
"""

import json
import shlex
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from pjrtwheel.environment.processes import run_process

# Ends the name of the case that stands for importing a file, which there is only when that fails.
IMPORT = "::import"
CASE_SECONDS, FILE_SECONDS = 300.0, 3600.0
_DETAIL = 400
# pytest's exit status when all passed, some failed, the file could not be imported, and nothing was there to run.
_ORDERLY = frozenset({0, 1, 2, 5})
_MOST_CRASHES = 100  # then a file that crashes while it is imported is given up
_UNFINISHED = {"setup", "call"}
_CRASH, _NO_PHASE = "worker ", "???"  # what xdist says of a case that killed its worker, and when


class CaseOutcome(StrEnum):
    """What became of one case; one that exceeds its time limit crashes."""

    PASSED = "passed"
    SKIPPED = "skipped"
    FAILED = "failed"
    CRASHED = "crashed"
    NOT_RUN = "not run"

    def is_bad(self) -> bool:
        """Return whether the case ran and did not do what it should."""
        return self in {CaseOutcome.FAILED, CaseOutcome.CRASHED}


_WORST = (CaseOutcome.PASSED, CaseOutcome.SKIPPED, CaseOutcome.FAILED, CaseOutcome.CRASHED)


@dataclass(frozen=True, slots=True)
class Case:
    """One test case on one client; its name, as pytest gives it, is the key under which it is kept.

    Attributes:
        detail: The last line of the failure, or why it was skipped.
    """

    outcome: CaseOutcome
    detail: str = ""


def read_log(lines: Iterable[str]) -> dict[str, Case]:
    """Return the cases in a log that ended, by name; a last line that was cut short is ignored.

    Of set-up, call, tear-down and subtests the worst counts.
    """
    cases: dict[str, Case] = {}
    ended: set[str] = set()
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        match entry["$report_type"]:
            case "CollectReport" if entry["outcome"] != "passed":
                name = entry["nodeid"] + IMPORT
                cases[name] = _read_case(entry)
                ended.add(name)
            case kind if kind.endswith("Report") and "when" in entry:
                name = entry["nodeid"]
                before = cases.get(name, Case(CaseOutcome.PASSED))
                cases[name] = max(before, _read_case(entry), key=lambda found: _WORST.index(found.outcome))
                if entry["when"] not in _UNFINISHED:
                    ended.add(name)
    return {name: case for name, case in cases.items() if name in ended}


def _read_case(entry: Mapping[str, Any]) -> Case:
    match entry["longrepr"]:
        case [_, _, reason]:
            text = reason
        case {"reprcrash": {"message": message}}:
            text = message
        case other:
            text = str(other or "")
    crashed = text.startswith(_CRASH) and entry.get("when") == _NO_PHASE
    outcome = CaseOutcome.CRASHED if crashed else CaseOutcome(entry["outcome"])
    return Case(outcome, " ".join(text.split())[:_DETAIL])


def run_file(
    python: Path,
    test_file: Path,
    environ: Mapping[str, str],
    *,
    case_seconds: float = CASE_SECONDS,
    file_seconds: float = FILE_SECONDS,
) -> dict[str, Case]:
    """Run every case of a file within time limits, and return what became of each, by name.

    After a crash the cases behind it run in another process. The environment says which client they use.
    """
    with tempfile.TemporaryDirectory(prefix="conformance-") as scratch:
        log = Path(scratch) / "log"
        command = [*_pytest(python, test_file.parent, case_seconds), f"--report-log={log}", str(test_file)]
        end = run_process(command, file_seconds, environ=environ)
        cases = read_log(log.read_text("utf-8").splitlines() if log.is_file() else [])
    if end.status not in _ORDERLY:
        detail = f"{end.describe()}: {' '.join(end.output.split())[-_DETAIL:]}"
        cases[f"{test_file.name}::process"] = Case(CaseOutcome.CRASHED, detail)
    return cases


def _pytest(python: Path, folder: Path, case_seconds: float) -> list[str]:
    """Return the command of pytest, without any configuration that is not given here.

    Python's faulthandler ends a worker whose case takes too long, whoever holds the GIL.
    """
    settings = (
        f"pythonpath={shlex.quote(str(folder))}",
        f"faulthandler_timeout={case_seconds}",
        "faulthandler_exit_on_timeout=true",
    )
    options = ["-q", "--tb=short", "-p", "no:cacheprovider", "-n1", f"--max-worker-restart={_MOST_CRASHES}"]
    options += ["--import-mode=importlib", "-c", "/dev/null", f"--rootdir={folder}"]
    return [str(python), "-I", "-m", "pytest", *options, *(f"--override-ini={setting}" for setting in settings)]
