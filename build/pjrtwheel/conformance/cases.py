# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What became of each case of a test file, read from the journal that the recorder writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

# Ends the name of the case that stands for importing a file, which the recorder writes only when that fails.
IMPORT = "::import"


class Outcome(StrEnum):
    """What became of one case."""

    PASSED = "passed"
    SKIPPED = "skipped"
    FAILED = "failed"
    CRASHED = "crashed"
    TIMED_OUT = "timed out"
    NOT_RUN = "not run"

    def is_bad(self) -> bool:
        """Tell whether the case ran and did not do what it should."""
        return self in {Outcome.FAILED, Outcome.CRASHED, Outcome.TIMED_OUT}


@dataclass(frozen=True, slots=True)
class Case:
    """One test case on one client.

    Attributes:
        name: As pytest names it, such as `lax_test.py::LaxTest::testSlice0`.
        outcome: What became of it.
        detail: The last line of the failure, or why it was skipped.
    """

    name: str
    outcome: Outcome
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Journal:
    """What one test process left behind, however it ended.

    Attributes:
        collected: Names of all cases that it found, in order.
        finished: The cases that ended.
        running: The case that had begun and not ended, if any.
        client: What JAX ran on, as the process said at its end; empty if it did not get there.
    """

    collected: tuple[str, ...]
    finished: dict[str, Case]
    running: str
    client: str


def parse_journal(lines: Iterable[str]) -> Journal:
    """Read a journal; a last line that was cut short by a crash is ignored."""
    collected: tuple[str, ...] = ()
    finished: dict[str, Case] = {}
    running = client = ""
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        match event["event"]:
            case "collected":
                collected = tuple(event["cases"])
            case "start":
                running = event["case"]
            case "end":
                finished[event["case"]] = Case(event["case"], Outcome(event["outcome"]), event["detail"])
                running = "" if running == event["case"] else running
            case "client":
                client = event["client"]
    return Journal(collected, finished, running, client)


def count_outcomes(cases: Mapping[str, Case]) -> dict[Outcome, int]:
    """Count the cases of each outcome."""
    return {outcome: sum(case.outcome is outcome for case in cases.values()) for outcome in Outcome}
