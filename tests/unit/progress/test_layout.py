# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""How running steps look, on terminals of several widths and in a log."""

from __future__ import annotations

import pytest

from pjrtwheel.progress.layout import ASCII, UNICODE, Marks, describe_end, describe_running, layout_live
from pjrtwheel.progress.step import Activity, Item

BAZEL = Activity(
    "Bazel",
    10.0,
    12,
    20,
    (
        Item("jaxlib-1.2.3-cp312-cp312-manylinux_2_27_x86_64.whl", 60.0, 45_200_000, 82_100_000),
        Item("Assembling jaxlib_cpu", 58.0),
    ),
)
PROOFS = Activity("programs on Python 3.12.1", 69.0, 0, 15, tuple(Item(f"program{n}", 69.5) for n in range(6)))


def test_a_wide_terminal() -> None:
    """Downloads have megabytes and a rate, all else its time; what there is no room for is counted."""
    assert layout_live([BAZEL, PROOFS], 0.0, 70.0, 80, UNICODE) == [
        "▸ Bazel 12 of 20                                                            1:00",
        "    jaxlib-1.2.3-cp312-cp312-manylinux_2_27_x86_64.whl 45.2 of 82.1 MB, 4.5 MB/s",
        "    Assembling jaxlib_cpu                                                   12 s",
        "▸ programs on Python 3.12.1 0 of 15                                          1 s",
        *(f"{f'    program{n}':<76} 0 s" for n in range(4)),
        "    and 2 more",
        "total                                                                       1:10",
    ]


def test_a_narrow_terminal_in_ascii() -> None:
    """Names give way, figures stay."""
    assert layout_live([BAZEL], 0.0, 70.0, 40, ASCII) == [
        ".. Bazel 12 of 20                   1:00",
        "    jaxlib-... 45.2 of 82.1 MB, 4.5 MB/s",
        "    Assembling jaxlib_cpu           12 s",
        "total                               1:10",
    ]


@pytest.mark.parametrize("width", [0, 1, 10, 25, 40, 80, 200])
@pytest.mark.parametrize("marks", [ASCII, UNICODE], ids=["ascii", "unicode"])
def test_no_line_is_wider_than_the_terminal(width: int, marks: Marks) -> None:
    """However narrow it is."""
    lines = layout_live([BAZEL, PROOFS], 0.0, 70.0, width, marks)
    assert [line for line in lines if len(line) > max(width, len("    and 2 more"))] == []
    assert len(lines) == 10


def test_nothing_runs() -> None:
    """Then nothing is shown, not even the time."""
    assert (layout_live([], 0.0, 70.0, 80), describe_running([], 0.0, 70.0, 80)) == ([], "")


def test_a_line_of_a_log() -> None:
    """It says what runs and since when, and what of it."""
    assert describe_running([BAZEL], 0.0, 70.0, 200) == (
        "[1:10] Bazel 12 of 20 for 1:00: jaxlib-1.2.3-cp312-cp312-manylinux_2_27_x86_64.whl "
        "(45.2 of 82.1 MB, 4.5 MB/s); Assembling jaxlib_cpu (12 s)"
    )
    assert describe_running([PROOFS], 0.0, 70.0, 80) == (
        "[1:10] programs on Python 3.12.1 0 of 15 for 1 s: program0 (0 s); program1 (0..."
    )


@pytest.mark.parametrize(
    ("activity", "passed", "line"),
    [
        (Activity("verify", 10.0, 7, 7), True, "ok verify: 7 in 1:00"),
        (Activity("Bazel", 10.0, 3, 20), True, "ok Bazel: 1:00"),
        (Activity("verify", 10.0, 3, 7), False, "failed verify 3 of 7: 1:00"),
        (Activity("environment", 10.0), False, "failed environment: 1:00"),
    ],
)
def test_what_stays_of_a_step(activity: Activity, passed: bool, line: str) -> None:  # noqa: FBT001
    """Bazel's own count lags behind, so that only a complete one is given for what came to its end."""
    assert describe_end(activity, 70.0, ASCII, passed=passed) == line
