# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The report in Markdown, and the steps in it."""

from __future__ import annotations

import pytest

from pjrtwheel.bump.comparison import Row, SizeRow
from pjrtwheel.bump.decisions import Decision
from pjrtwheel.bump.report import Section, list_decisions, list_rows, list_sizes, list_steps, render_report, wrap
from pjrtwheel.bump.steps import Steps
from pjrtwheel.errors import BazelError, FetchError


def test_rows_that_changed_alike_are_one_line() -> None:
    """What is gone is printed bold, what did not change is named once."""
    rows = [
        Row("a", ("1",), ("2",)),
        Row("b", ("1",), ("2",)),
        Row("c", ("x", "y"), ("y", "z")),
        Row("d", (), ("x", "y")),
        Row("e", ("x",), ()),
        Row("f", ("x", "y"), ("y", "x")),
        Row("g", (), ()),
        Row("h", (), tuple("abcdefghijklmnop")),
    ]
    assert list_rows(rows) == (
        "- a, b: 1 → 2",
        "- c: added z; **removed x**",
        "- d: new, x, y",
        "- e: **gone**, was x",
        "- h: new, a, b, c, d, e, f, g, h, i, j, k, l and 4 more",
        "- unchanged: f",
    )


def test_sizes_are_a_table() -> None:
    """In MB; what only one release has shows no change."""
    rows = [SizeRow("a", 80_000_000, 60_000_000), SizeRow("b", 0, 1_000_000), SizeRow("c", 1_000_000, 0)]
    assert list_sizes(rows, "1.1", "1.2") == (
        "| MB | 1.1 | 1.2 | change |",
        "|---|---:|---:|---:|",
        "| a | 80.0 | 60.0 | -25.0 % |",
        "| b |  | 1.0 |  |",
        "| c | 1.0 |  |  |",
    )
    assert list_sizes([], "1.1", "1.2") == ()


def test_report_has_a_heading_for_each_part_with_lines() -> None:
    """A decision can be ticked off, and names its line."""
    decision = Decision("releases/xla.toml", 7, "which commit", "a table")
    sections = [Section("To decide", list_decisions([decision])), Section("Pythons", ()), Section("Steps", ("- pin",))]
    assert render_report("Bump", sections) == (
        "# Bump\n\n## To decide\n\n- [ ] `releases/xla.toml:7`: which commit. To write: a table\n\n## Steps\n\n- pin\n"
    )


def test_terminal_folds_lists_and_no_tables() -> None:
    """The words stay the same."""
    text = f"# T\n\n- {'word ' * 20}end\n| {'cell ' * 20}|\n"
    wrapped = wrap(text, 40)
    assert [line for line in wrapped.splitlines() if len(line) > 40] == [f"| {'cell ' * 20}|"]
    assert wrapped.split() == text.split()
    assert "\n  word" in wrapped


def test_a_failed_step_stops_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    """The status is that of the first failure; its whole message is in the report, and on the screen at once."""

    def fail(error: Exception) -> str:
        raise error

    def work() -> int:
        print("progress")
        return 3

    steps = Steps()
    first = BazelError("it broke", cause="because", remedy="fix it")
    assert steps.run("build a", lambda: fail(first)) is None
    assert "error: it broke\n       because\n       fix it\n" in capsys.readouterr().err
    assert steps.run("build b", work, lambda number: f"{number} wheels") == 3
    assert capsys.readouterr() == ("", "build b ...\nprogress\n")
    steps.run("build c", lambda: fail(FetchError("offline")))
    assert steps.status() == BazelError.exit_code
    assert list_steps(steps.done) == (
        "- **build a failed**: it broke; because; fix it",
        "- build b: 3 wheels",
        "- **build c failed**: offline",
    )
    with pytest.raises(ZeroDivisionError):
        steps.run("a bug", lambda: fail(ZeroDivisionError()))
