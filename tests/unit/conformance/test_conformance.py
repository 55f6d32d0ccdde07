# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Comparing clients case by case, and running test files through crashes and hangs."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from pjrtwheel.conformance.clients import (
    check_client,
    find_test_files,
)
from pjrtwheel.conformance.comparison import (
    Change,
    Difference,
    Expected,
    compare,
    format_report,
    parse_expected,
)
from pjrtwheel.conformance.run_file import Case, CaseOutcome, Limits, ReportLog, parse_report_log, run_file
from pjrtwheel.errors import ProofError, UsageError


def cases(**outcomes: CaseOutcome) -> dict[str, Case]:
    """Return cases by name."""
    return {name: Case(name, outcome, "why") for name, outcome in outcomes.items()}


def run(folder: Path, text: str, limits: Limits = Limits(60)) -> dict[str, str]:  # noqa: B008 - frozen
    """Run a test file with this Python and return the outcome of each case."""
    (folder / "some_test.py").write_text(text)
    result = run_file(Path(sys.executable), folder / "some_test.py", dict(os.environ), limits)
    return {name.removeprefix("some_test.py::"): case.outcome.value for name, case in result.cases.items()}


def test_differences_are_sorted_by_kind() -> None:
    """Each way to differ lands in its own list, and equal cases in none."""
    builtin = cases(
        same=CaseOutcome.PASSED,
        both=CaseOutcome.FAILED,
        worse=CaseOutcome.PASSED,
        skipped=CaseOutcome.PASSED,
        lost=CaseOutcome.PASSED,
        better=CaseOutcome.FAILED,
        late=CaseOutcome.NOT_RUN,
        woken=CaseOutcome.SKIPPED,
    )
    plugin = cases(
        same=CaseOutcome.PASSED,
        both=CaseOutcome.CRASHED,
        worse=CaseOutcome.CRASHED,
        skipped=CaseOutcome.SKIPPED,
        better=CaseOutcome.PASSED,
        late=CaseOutcome.PASSED,
        woken=CaseOutcome.FAILED,
    )
    difference = compare("f", builtin, plugin, ())
    assert [change.name for change in difference.newly_failing()] == ["worse", "lost", "woken"]
    assert [change.name for change in difference.newly(CaseOutcome.SKIPPED)] == ["skipped"]
    assert [change.name for change in difference.newly(CaseOutcome.PASSED)] == ["better"]
    assert len(difference.unexpected()) == 4


def test_expected_differences_carry_their_reason() -> None:
    """An entry explains a difference only with the right outcome; one that no longer differs is stale."""
    builtin = cases(a=CaseOutcome.PASSED, b=CaseOutcome.PASSED, c=CaseOutcome.PASSED)
    plugin = cases(a=CaseOutcome.FAILED, b=CaseOutcome.SKIPPED, c=CaseOutcome.PASSED)
    entries = tuple(Expected(name, CaseOutcome.FAILED, f"because of {name}") for name in ("a", "b", "c", "absent"))
    assert compare("f", builtin, plugin, entries) == Difference(
        file="f",
        builtin={o: 3 if o is CaseOutcome.PASSED else 0 for o in CaseOutcome},
        plugin={o: int(o in {CaseOutcome.PASSED, CaseOutcome.FAILED, CaseOutcome.SKIPPED}) for o in CaseOutcome},
        changes=(
            Change("a", CaseOutcome.PASSED, CaseOutcome.FAILED, "why", "because of a"),
            Change("b", CaseOutcome.PASSED, CaseOutcome.SKIPPED, "why", ""),
        ),
        stale=(entries[2],),
        unusable="",
    )


def test_a_process_that_breaks_outside_of_any_case_counts() -> None:
    """It has no counterpart on the built-in client and is newly failing all the same."""
    difference = compare("f", {}, cases(process=CaseOutcome.CRASHED), ())
    assert [change.name for change in difference.newly_failing()] == ["process"]


def test_a_file_of_another_release_is_no_success() -> None:
    """A file that cannot be imported on either client does not pass for one without differences."""
    name = "f.py::import"
    failed = {name: Case(name, CaseOutcome.FAILED, "no such name")}
    difference = compare("f.py", failed, failed, ())
    assert (difference.unusable, difference.unexpected()) == ("no such name", [])
    assert "no such name" in format_report([difference])


def report(when: str, outcome: str, name: str = "a", longrepr: object = None) -> str:
    """Return a line of the log about one phase of a case."""
    table = {"$report_type": "TestReport", "nodeid": name, "when": when, "outcome": outcome, "longrepr": longrepr}
    return json.dumps(table)


def test_a_log_that_was_cut_short_is_read() -> None:
    """The case that had begun is known, and the torn last line is ignored."""
    lines = [
        json.dumps({"$report_type": "SessionStart"}),
        report("setup", "skipped", longrepr=["file", 1, "no"]),
        report("teardown", "passed"),
        report("setup", "passed", "b"),
        '{"when": "te',
    ]
    assert parse_report_log(lines) == ReportLog({"a": Case("a", CaseOutcome.SKIPPED, "no")}, "b", None)


def test_the_worst_phase_of_a_case_counts() -> None:
    """With its message in one line; subtests are phases like others."""
    crash = {"reprcrash": {"message": "ValueError:\n  no"}}
    lines = [report("setup", "passed"), report("call", "failed", longrepr=crash), report("teardown", "passed")]
    finish = json.dumps({"$report_type": "SessionFinish", "exitstatus": 1})
    lines += [line.replace("TestReport", "SubtestReport") for line in lines[1:2]]
    expected = ReportLog({"a": Case("a", CaseOutcome.FAILED, "ValueError: no")}, "", 1)
    assert parse_report_log([*lines, finish]) == expected


JAX = """
import types
def devices(): return [types.SimpleNamespace(client=types.SimpleNamespace(is_c_api={is_c_api}))]
"""


@pytest.mark.parametrize(("is_c_api", "client"), [(True, "plugin"), (False, "built-in")], ids=["plugin", "built-in"])
def test_a_file_says_which_client_it_ran_on(tmp_path: Path, client: str, *, is_c_api: bool) -> None:
    """A comparison of a client with itself would say nothing, so each process of a file names its own."""
    (tmp_path / "jax.py").write_text(JAX.format(is_c_api=is_c_api))
    file = tmp_path / "some_test.py"
    file.write_text("import os, jax\ndef test_a(): os.abort()\ndef test_b(): pass\n")
    done = run_file(Path(sys.executable), file, dict(os.environ), Limits(60))
    assert done.client == client
    check_client(done, client)
    with pytest.raises(ProofError, match=rf"some_test\.py ran on the {client} client"):
        check_client(done, {"plugin": "built-in", "built-in": "plugin"}[client])


def test_outcomes_of_a_file_are_collected(tmp_path: Path) -> None:
    """Failures in set-up and tear-down count, as do skips at every place."""
    text = """
import unittest
import pytest

class T(unittest.TestCase):
    def test_good(self): pass
    def test_bad(self): self.fail("no")
    def test_skip(self): self.skipTest("not here")
    @unittest.skip("never")
    def test_never(self): pass

@pytest.fixture
def broken():
    yield
    raise ValueError

def test_teardown(broken): pass
"""
    assert run(tmp_path, text) == {
        "T::test_good": "passed",
        "T::test_bad": "failed",
        "T::test_skip": "skipped",
        "T::test_never": "skipped",
        "test_teardown": "failed",
    }


def test_a_crash_costs_one_case(tmp_path: Path) -> None:
    """Cases before and after the one that kills the process keep their outcomes."""
    text = "import os\ndef test_a(): pass\ndef test_b(): os.abort()\ndef test_c(): pass\ndef test_d(): os._exit(3)\n"
    assert run(tmp_path, text) == {"test_a": "passed", "test_b": "crashed", "test_c": "passed", "test_d": "crashed"}


@pytest.mark.parametrize("wait", ["time.sleep(60)", "ctypes.PyDLL(None).sleep(60)"], ids=["in Python", "with the GIL"])
def test_a_hang_costs_one_case(tmp_path: Path, wait: str) -> None:
    """A case beyond its limit is stopped, also in native code that lets no other thread run, and the rest goes on."""
    text = f"import ctypes, time\ndef test_a(): {wait}\ndef test_b(): pass\n"
    assert run(tmp_path, text, Limits(2)) == {"test_a": "timed out", "test_b": "passed"}


def test_the_time_limit_of_a_file_leaves_the_rest_not_run(tmp_path: Path) -> None:
    """What there was no time for is said, not forgotten."""
    text = "import time\ndef test_a(): time.sleep(60)\ndef test_b(): pass\n"
    assert run(tmp_path, text, Limits(60, 3)) == {"test_a": "timed out", "test_b": "not run"}


def test_a_file_that_cannot_be_imported_is_a_failed_case(tmp_path: Path) -> None:
    """It never counts as a file without differences."""
    assert set(run(tmp_path, "import no_such_module\n").values()) == {"failed"}


def test_test_files_are_found_by_name(tmp_path: Path) -> None:
    """Names work with and without their ending, and a wrong one says how to get the tests."""
    for name in ("a_test.py", "b_test.py", "config.py"):
        (tmp_path / name).touch()
    assert [path.name for path in find_test_files(tmp_path, [])] == ["a_test.py", "b_test.py"]
    assert [path.name for path in find_test_files(tmp_path, ["b_test.py", "a_test"])] == ["b_test.py", "a_test.py"]
    with pytest.raises(UsageError, match=r"c_test\.py\nJAX's tests are not in its wheel"):
        find_test_files(tmp_path, ["c_test"])
    with pytest.raises(UsageError, match=r"no \*_test\.py"):
        find_test_files(tmp_path / "nowhere", [])


@pytest.mark.parametrize(
    "text",
    [
        "difference = 3",
        '[[difference]]\ncase = "a"\noutcome = "failed"',
        '[[difference]]\ncase = "a"\noutcome = "bad"\nreason = "x"',
        '[[difference]]\ncase = "a"\noutcome = "failed"\nreason = " "',
    ],
    ids=["type", "no reason", "outcome", "empty reason"],
)
def test_an_entry_without_a_reason_is_refused(text: str) -> None:
    """Every entry names a case, an outcome and a reason."""
    with pytest.raises(UsageError):
        parse_expected(text, Path("cpu.toml"))
