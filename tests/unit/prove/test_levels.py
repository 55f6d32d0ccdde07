# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What evidence amounts to."""

from __future__ import annotations

import pytest

from pjrtwheel.prove.levels import Kind, Level, Outcome, ProgramResult, PythonProof


def result(outcome: Outcome, level: Level = Level.DEVICE, kind: Kind = Kind.PROGRAM) -> ProgramResult:
    """Return a result of some program."""
    return ProgramResult("program", outcome, level, 1.0, "", kind)


@pytest.mark.parametrize(
    ("results", "level"),
    [
        ([], Level.STATIC),
        ([result(Outcome.NOT_RUN)], Level.STATIC),
        ([result(Outcome.PASSED, Level.LOAD)], Level.LOAD),
        ([result(Outcome.PASSED, Level.AOT), result(Outcome.NOT_RUN, Level.DEVICE)], Level.AOT),
        ([result(Outcome.PASSED, Level.DEVICE), result(Outcome.PASSED, Level.AOT)], Level.DEVICE),
        ([result(Outcome.PASSED, Level.DEVICE), result(Outcome.FAILED, Level.LOAD)], Level.STATIC),
        ([result(Outcome.EXPECTED, Level.AOT), result(Outcome.PASSED, Level.LOAD)], Level.LOAD),
    ],
    ids=["nothing", "not run", "load", "aot, device not run", "device", "one failure", "aot failed as expected"],
)
def test_only_what_passed_counts(results: list[ProgramResult], level: Level) -> None:
    """A level needs a program that shows it and has run; a failure anywhere leaves nothing."""
    assert PythonProof("cp312", "3.12.1", tuple(results)).level() is level


def test_the_summary_counts_outcomes() -> None:
    """Outcomes that did not occur are left out; what is counted is said, and an expected failure did not pass."""
    results = (
        result(Outcome.PASSED),
        result(Outcome.NOT_RUN),
        result(Outcome.PASSED),
        result(Outcome.EXPECTED, kind=Kind.TARGET),
        result(Outcome.PASSED, kind=Kind.CHECK),
    )
    assert PythonProof("cp312", "3.12.1", results).summary() == (
        "2 programs passed, 1 program not run, 1 target failed as expected, 1 check passed"
    )


def test_a_missing_interpreter_is_said() -> None:
    """Nothing run is not the same as nothing wrong."""
    assert PythonProof("cp314", "", (), "no interpreter").summary() == "not run: no interpreter"
