# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The README and the guides say what is so."""

from __future__ import annotations

from pathlib import Path

import pytest

from pjrtwheel.conformance.comparison import Expected
from pjrtwheel.conformance.run_file import CaseOutcome
from pjrtwheel.docs.readme import quote_install, render_differences, render_generated, replace_section
from pjrtwheel.errors import UsageError


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
    """The list keeps to the line length that lint holds pages to."""
    (first, second) = render_differences([Expected("a_test.py", CaseOutcome.FAILED, "word " * 30)]).splitlines()
    assert (len(first) <= 120, second.startswith("  word")) == (True, True)


def test_section_is_replaced_and_the_rest_kept() -> None:
    """Only what stands between the marks changes."""
    marked = "a\n<!-- x: begin, written by ./noxw update -->\n{}\n<!-- x: end -->\nb\n".format
    assert replace_section(marked("old"), "x", "new") == marked("new")


def test_document_without_marks_is_refused() -> None:
    """A page that was rewritten without the section is noticed."""
    with pytest.raises(UsageError, match="lacks its marks"):
        replace_section("a", "x", "new")


def test_readme_without_the_commands_is_refused() -> None:
    """The quick start would lose them without a word."""
    with pytest.raises(UsageError, match="lacks a section"):
        quote_install("# A\n\n## Make\n\nb\n\n## C\n")


def test_generated_parts_are_up_to_date(root: Path) -> None:
    """Run `./noxw update` after a change in releases, tests/conformance or docs/wheels.json."""
    written = render_generated(root)
    assert {path: (root / path).read_text("utf-8") for path in written} == written
