# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What became of each case of a test file, read from the log that pytest-reportlog writes line by line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

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
