# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What an output can show: the tooling, the selector and the wheels answer alike."""

import io

import pytest

from jaxlib_select.cli import terminal as selector
from loaders import load_module
from pjrtwheel.progress import BarProgress, LogProgress, open_progress
from terminal_output import Output

Shown = tuple[int, bool, bool]

WIDTH = 72
LINES_ONLY = (0, False, False)


def ask_tooling(stream: io.StringIO, environ: dict[str, str]) -> tuple[int, bool]:
    """Return width and colour that the progress of a build gives an output; Rich chooses signs by the encoding."""
    progress = open_progress(stream, environ)
    if not isinstance(progress, BarProgress):
        assert type(progress) is LogProgress
        return 0, False
    console = progress._console
    assert console.is_terminal
    return console.width, not console.no_color


@pytest.mark.parametrize(
    ("environ", "colour"),
    [
        ({}, None),
        ({"TERM": ""}, None),
        ({"TERM": "dumb"}, None),
        ({"TERM": "unknown"}, None),
        ({"FORCE_COLOR": "1"}, None),
        ({"TERM": "xterm"}, True),
        ({"TERM": "xterm", "FORCE_COLOR": "1"}, True),
        ({"TERM": "xterm", "NO_COLOR": ""}, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "xterm", "NO_COLOR": "0", "FORCE_COLOR": "1"}, False),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("encoding", "marks"),
    [("utf-8", True), ("gb18030", True), ("cp1252", False), ("no-such-encoding", False), (None, False)],
)
@pytest.mark.parametrize("terminal", [True, False], ids=["terminal", "pipe"])
def test_all_programs_take_an_output_for_the_same(
    monkeypatch: pytest.MonkeyPatch,
    environ: dict[str, str],
    colour: bool | None,
    encoding: str | None,
    marks: bool,
    terminal: bool,
) -> None:
    """By the rule of `jaxlib_select.cli.terminal`, which Rich's own does not change."""
    for name in ("TERM", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    output = Output(encoding, terminal=terminal)
    wheel = load_module("cuda13", "pjrt.terminal").describe_terminal(output, environ)
    described = selector.describe_terminal(output, environ)
    expected = (WIDTH, marks, colour) if terminal and colour is not None else LINES_ONLY
    assert (described.width, described.marks, described.colour) == expected
    assert tuple(wheel) == expected
    assert ask_tooling(output, environ) == (expected[0], expected[2])
