# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The README says what is so."""

from __future__ import annotations

from pathlib import Path

import pytest

from pjrtwheel.conformance.cases import Outcome
from pjrtwheel.conformance.expected import Expected, load_expected
from pjrtwheel.errors import UsageError
from pjrtwheel.readme import BACKEND, BEGIN, END, render_differences, replace_section


def test_cases_are_listed_by_reason() -> None:
    """Each reason stands once, with the number of its cases and their files."""
    entries = [
        Expected("a_test.py::A::test_b", Outcome.FAILED, "First."),
        Expected("a_test.py::A::test_c", Outcome.FAILED, "Second."),
        Expected("d_test.py::A::test_e", Outcome.FAILED, "First."),
    ]
    assert render_differences(entries).splitlines() == [
        "- First. (2 cases in `a_test.py`, `d_test.py`)",
        "- Second. (1 case in `a_test.py`)",
    ]


def test_section_is_replaced_and_the_rest_kept() -> None:
    """Only what stands between the marks changes."""
    assert replace_section(f"a\n{BEGIN}\nold\n{END}\nb\n", "new") == f"a\n{BEGIN}\nnew\n{END}\nb\n"


def test_document_without_marks_is_refused() -> None:
    """A README that was rewritten without the section is noticed."""
    with pytest.raises(UsageError, match="lacks its marks"):
        replace_section("a", "new")


def test_readme_lists_the_known_differences(root: Path) -> None:
    """Run `nox -s update_readme` after a change of tests/conformance/cpu.toml."""
    text = (root / "README.md").read_text("utf-8")
    assert replace_section(text, render_differences(load_expected(root, BACKEND))) == text
