# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""How far Bazel is, by what it prints."""

from __future__ import annotations

import pytest

from pjrtwheel.bazel.progress_lines import BazelState, parse_progress, report_line
from pjrtwheel.progress import Item, Step


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("[7 / 9] Assembling the wheel; 25s linux-sandbox", BazelState(7, 9, "Assembling the wheel", 25)),
        ("[7 / 9] [Sched] Assembling a; 3s ... (2 actions)", BazelState(7, 9, "Assembling a", 3)),
        ("[0 / 7] [Prepa] Writing script ... (2 actions, 0 running)", BazelState(0, 7, "Writing script")),
        ("[5 / 5] checking cached actions", BazelState(5, 5)),
        ("[1,018 / 2,001]", BazelState(1018, 2001)),
        ("Loading: 0 packages loaded", BazelState(0, 0, "loading 0 packages loaded")),
        ("Analyzing: ", BazelState(0, 0, "analyzing")),
        ("INFO: Elapsed time: 3.1s", None),
        ("    Fetching @x; 3s", None),
        ("", None),
    ],
)
def test_lines_of_bazel(line: str, state: BazelState | None) -> None:
    """The name of what runs and for how long, wherever they are there."""
    assert parse_progress(line) == state


def test_a_step_shows_the_newest() -> None:
    """Other lines change nothing of it."""
    step = Step("Bazel", clock=lambda: 100.0)
    for line in ("[1 / 9] Assembling a; 4s local\n", "[2 / 9] Assembling b; 5s local\n", "INFO: hello\n"):
        report_line(line, step)
    shown = step.snapshot()
    assert (shown.done, shown.total, shown.items) == (2, 9, (Item("Assembling b", 95.0),))
