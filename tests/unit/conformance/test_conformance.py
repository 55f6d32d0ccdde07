# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Comparing clients case by case, and running test files through crashes and hangs."""

import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.conformance.clients import run_file
from pjrtwheel.conformance.comparison import Case, CaseOutcome, Comparison, Difference, Expected, compare


def cases(**outcomes: CaseOutcome) -> dict[str, Case]:
    """Return cases by name."""
    return {name: Case(outcome, "why") for name, outcome in outcomes.items()}


def run(folder: Path, text: str, case_seconds: float = 60, file_seconds: float = 60, **more: Any) -> dict[str, str]:
    """Run a test file with this Python and return the outcome of each case."""
    (folder / "some_test.py").write_text(text)
    python, environ = Path(sys.executable), {name: os.environ[name] for name in ("PATH", "HOME")}
    test_file = folder / "some_test.py"
    cases = run_file(python, test_file, environ, case_seconds=case_seconds, file_seconds=file_seconds, **more)
    return {name.removeprefix("some_test.py::"): case.outcome.value for name, case in cases.items()}


def test_what_does_not_pass_on_the_plugin_alone_differs() -> None:
    """An entry explains it only with the right outcome; one that no longer differs is stale."""
    passed, failed, skipped = CaseOutcome.PASSED, CaseOutcome.FAILED, CaseOutcome.SKIPPED
    plugin = cases(a=failed, b=skipped, c=passed, both=failed, other=failed) | cases(**{"f.py::import": failed})
    builtin = cases(a=passed, b=passed, both=failed, other=skipped)
    entries = tuple(Expected(name, failed, f"because of {name}") for name in ("a", "b", "c", "absent"))
    found = compare("f", plugin, builtin, entries)
    assert found == Comparison(
        file="f",
        counts=Counter({passed: 1, failed: 4, skipped: 1}),
        differences=(
            Difference("a", Case(failed, "why"), "because of a"),
            Difference("b", Case(skipped, "why"), ""),
            Difference("other", Case(failed, "why"), ""),
            Difference("f.py::import", Case(failed, "why"), ""),
        ),
        stale=(entries[2],),
    )
    assert [difference.name for difference in found.unexpected()] == ["b", "other", "f.py::import"]


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
    again = ["some_test.py::T::test_bad", "some_test.py::test_teardown"]
    assert run(tmp_path, text, names=again) == {"T::test_bad": "failed", "test_teardown": "failed"}


BRACKETS = """
import unittest
class Tests(unittest.TestCase):
    def test_plain(self): pass
setattr(Tests, "test_f32[2,2]_axis=0", lambda self: self.skipTest("one device"))
"""


def test_a_case_with_brackets_in_its_name_is_run_again(tmp_path: Path) -> None:
    """Under its own name: by the one in pytest's report no case is found, and then none of the file is run."""
    name = "Tests::test_f32[2,2]_axis=0"
    assert run(tmp_path, BRACKETS) == {name: "skipped", "Tests::test_plain": "passed"}
    assert run(tmp_path, BRACKETS, names=[f"some_test.py::{name}"]) == {name: "skipped"}


CRASH = "import os\ndef test_a(): pass\ndef test_b(): os.abort()\ndef test_c(): pass\ndef test_d(): os._exit(3)\n"
HANG = "import ctypes, time\ndef test_a(): {}\ndef test_b(): pass\n"
SLOW = "import time\ndef test_a(): pass\ndef test_b(): time.sleep(60)\n"


@pytest.mark.parametrize(
    ("text", "limits", "outcomes"),
    [
        (CRASH, (60, 60), {"test_a": "passed", "test_b": "failed", "test_c": "passed", "test_d": "failed"}),
        (HANG.format("time.sleep(60)"), (2, 60), {"test_a": "failed", "test_b": "passed"}),
        (HANG.format("ctypes.PyDLL(None).sleep(60)"), (2, 60), {"test_a": "failed", "test_b": "passed"}),
        (SLOW, (60, 5), {"process": "failed"}),
        ("import no_such_module\n", (60, 60), {"import": "failed"}),
    ],
    ids=["crash", "hang in Python", "hang with the GIL", "file that does not end", "file that cannot be imported"],
)
def test_what_breaks_costs_one_case(
    tmp_path: Path, text: str, limits: tuple[float, float], outcomes: dict[str, str]
) -> None:
    """Others keep their outcomes, unless the whole file takes too long; it never counts as one without differences."""
    assert run(tmp_path, text, *limits) == outcomes
