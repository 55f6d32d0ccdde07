# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The README says what is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pjrtwheel import errors
from pjrtwheel.bazel import locate
from pjrtwheel.conformance.cases import CaseOutcome
from pjrtwheel.conformance.comparison import Expected
from pjrtwheel.docs.readme import render_differences, render_readme, replace_section
from pjrtwheel.errors import PjrtWheelError, UsageError
from pjrtwheel.program import INTERRUPTED
from pjrtwheel.release_check.problems import SEVERAL


def test_cases_are_listed_by_reason() -> None:
    """Each reason stands once, with the number of its cases and their files."""
    entries = [
        Expected("a_test.py::A::test_b", CaseOutcome.FAILED, "First."),
        Expected("a_test.py::A::test_c", CaseOutcome.FAILED, "Second."),
        Expected("d_test.py::A::test_e", CaseOutcome.FAILED, "First."),
    ]
    assert render_differences(entries).splitlines() == [
        "- First. (2 cases in `a_test.py`, `d_test.py`)",
        "- Second. (1 case in `a_test.py`)",
    ]


def test_a_long_reason_is_wrapped() -> None:
    """The list keeps to the line length that lint holds the README to."""
    (first, second) = render_differences([Expected("a_test.py", CaseOutcome.FAILED, "word " * 30)]).splitlines()
    assert (len(first) <= 120, second.startswith("  word")) == (True, True)


def test_section_is_replaced_and_the_rest_kept() -> None:
    """Only what stands between the marks changes."""
    marked = "a\n<!-- x: begin, written by nox -s update_readme -->\n{}\n<!-- x: end -->\nb\n".format
    assert replace_section(marked("old"), "x", "new") == marked("new")


def test_document_without_marks_is_refused() -> None:
    """A README that was rewritten without the section is noticed."""
    with pytest.raises(UsageError, match="lacks its marks"):
        replace_section("a", "x", "new")


def test_readme_is_up_to_date(root: Path) -> None:
    """Run `nox -s update_readme` after a change in releases or tests/conformance."""
    text = (root / "README.md").read_text("utf-8")
    assert render_readme(text, root) == text


def test_readme_has_every_exit_status(root: Path) -> None:
    """The table and the code name the same statuses."""
    classes = [value for value in vars(errors).values() if isinstance(value, type)]
    statuses = {value.exit_code for value in classes if issubclass(value, PjrtWheelError)} | {SEVERAL, INTERRUPTED}
    table = (root / "README.md").read_text("utf-8").split("| status | what |")[1]
    assert [int(row) for row in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)] == sorted(statuses)


def test_readme_names_the_supported_bazels(root: Path) -> None:
    """The versions of the README are those that are looked for."""
    oldest = ".".join(map(str, locate.OLDEST))
    assert f"- Bazel {oldest} to {locate.NEWEST_MAJOR}.x: " in (root / "README.md").read_text("utf-8")
