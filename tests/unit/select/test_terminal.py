# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What `resolve` and `doctor` look like on a terminal, and in a pipe."""

import io

import pytest

from jaxlib_select.cli.terminal import Terminal, describe_terminal, dress
from jaxlib_select.doctor.report import ERROR, WARNING, Finding, _finding_lines

LINES = [
    "chosen      cuda12  has code for NVIDIA H100 (compute capability 9.0), and the driver serves CUDA 13.0",
    "install     jaxlib-cuda-12[with-cuda]==1.2.3+split.1 and more that stays in one piece however long",
    "warning: the driver is older than the newest one",
]


class Screen(io.StringIO):
    """A stream that is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        """Return what terminals do."""
        return True


def test_the_verdict_is_marked_and_wrapped() -> None:
    """It has a mark and its colour, sentences are wrapped, requirements are not."""
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


@pytest.mark.parametrize(
    ("stream", "environ", "terminal"),
    [
        (Screen(), {"TERM": "xterm"}, Terminal(72, marks=True, colour=True)),
        (Screen(), {"TERM": "xterm", "NO_COLOR": "1"}, Terminal(72, marks=True)),
        (Screen(), {"TERM": "dumb"}, Terminal()),
        (io.StringIO(), {"TERM": "xterm"}, Terminal()),
    ],
    ids=["terminal", "no colour", "dumb", "pipe"],
)
def test_what_an_output_can_show(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, environ: dict[str, str], terminal: Terminal
) -> None:
    """Nothing but lines where other programs read them."""
    monkeypatch.setenv("COLUMNS", "72")
    assert describe_terminal(stream, environ) == terminal
    assert dress(LINES, Terminal(), well=True) == LINES


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
