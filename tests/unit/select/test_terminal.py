# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What `resolve` and `doctor` look like on a terminal, and in a pipe."""

from jaxlib_select.cli.terminal import Terminal, dress
from jaxlib_select.doctor.report import ERROR, WARNING, Finding, _finding_lines

LINES = [
    "chosen      cuda12  has code for NVIDIA H100 (compute capability 9.0), and the driver serves CUDA 13.0",
    "install     jaxlib-cuda-12[with-cuda]==1.2.3+split.1 and more that stays in one piece however long",
    "warning: the driver is older than the newest one",
]


def test_the_verdict_is_marked_and_wrapped() -> None:
    """It has a mark and its colour, sentences are wrapped, requirements are not; programs get the lines."""
    assert dress(LINES, Terminal(), well=True) == LINES
    assert dress(LINES, Terminal(80, marks=True, colour=True), well=True) == [
        "\x1b[32m✓ chosen    cuda12  has code for NVIDIA H100 (compute capability 9.0), and the\x1b[0m",
        "\x1b[32m                    driver serves CUDA 13.0\x1b[0m",
        LINES[1],
        f"\x1b[33m{LINES[2]}\x1b[0m",
    ]


def test_a_note_is_wrapped_and_its_command_is_not() -> None:
    """Only what is pasted has to stay in one piece; without signs and colours where there are none."""
    command, note = "  pip install jax jaxlib jaxlib-cuda-12", "  (add --find-links DIR for our wheels)"
    wrapped = ["error: it fails", "  (add --find-links DIR", "  for our wheels)", command]
    assert dress(["error: it fails", note, command], Terminal(24), well=False) == wrapped


def test_warnings_without_a_verdict_are_wrapped_as_well() -> None:
    """As commands print them next to their answer."""
    assert dress(LINES[2:], Terminal(40, marks=True)) == ["warning: the driver is older than the", "  newest one"]


def test_the_fix_of_the_worst_comes_last_and_once() -> None:
    """Those of other findings are below each, where they differ."""
    findings = (
        Finding(ERROR, "a", "first", "pip install a"),
        Finding(WARNING, "b", "second", "pip install b", "of ours"),
        Finding(WARNING, "c", "third", "pip install a"),
    )
    second = ["warning: second", "  (of ours)", "  pip install b"]
    lines = ["error: first", *second, "warning: third", "To fix it:", "  pip install a"]
    assert _finding_lines(findings) == lines
