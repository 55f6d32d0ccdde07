# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The README and the guides say what is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pjrtwheel import errors
from pjrtwheel.bazel import locate
from pjrtwheel.conformance.comparison import Expected
from pjrtwheel.conformance.run_file import CaseOutcome
from pjrtwheel.docs.readme import quote_install, render_differences, render_generated, replace_section
from pjrtwheel.errors import PjrtWheelError, UsageError
from pjrtwheel.program import INTERRUPTED
from pjrtwheel.release_check.problems import SEVERAL

GUIDES = ("user", "release", "vendor", "explanation")


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
    marked = "a\n<!-- x: begin, written by nox -s update_readme -->\n{}\n<!-- x: end -->\nb\n".format
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
    """Run `nox -s update_readme` after a change in releases, tests/conformance or docs/wheels.json."""
    written = render_generated(root)
    assert {path: (root / path).read_text("utf-8") for path in written} == written


def test_page_names_the_supported_bazels(root: Path) -> None:
    """The versions that a page has are those that are looked for."""
    oldest = ".".join(map(str, locate.OLDEST))
    page = (root / "docs/release/machine.md").read_text("utf-8")
    assert f"- Bazel {oldest} to {locate.NEWEST_MAJOR}.x: " in page


def test_readme_is_read_in_minutes(root: Path) -> None:
    """What is longer belongs on a page; .ci/run calls the test command that it has, after the checks of style."""
    text = (root / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 150
    assert "$ ./noxw -s build_cpu " in text
    assert "$ ./noxw -s tests " in text
    assert "./noxw -s lint tests " in (root / ".ci/run").read_text("utf-8")


def test_guides_say_what_a_reader_can_do_and_their_titles_differ(root: Path) -> None:
    """Each page begins with one title, and then speaks to the reader before anything else."""
    pages = [path for guide in GUIDES for path in sorted((root / "docs" / guide).glob("*.md"))]
    assert len(pages) > len(GUIDES)
    titles = [path.read_text("utf-8").split("\n", 1)[0] for path in pages]
    assert all(title.startswith("# ") for title in titles)
    assert len(set(titles)) == len(titles)
    assert [path for path in pages if not path.read_text("utf-8").split("\n")[2].startswith("You ")] == []


def test_reference_has_every_exit_status(root: Path) -> None:
    """The page of exit statuses and the code name the same ones of the tooling."""
    classes = [value for value in vars(errors).values() if isinstance(value, type)]
    statuses = {value.exit_code for value in classes if issubclass(value, PjrtWheelError)} | {SEVERAL, INTERRUPTED}
    table = (root / "docs/reference/exit-statuses.md").read_text("utf-8").split("| status |")[1]
    assert [int(row) for row in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)] == sorted(statuses)
