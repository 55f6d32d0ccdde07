# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What `python -m <package>` looks like on a terminal, and in a pipe."""

from __future__ import annotations

import io
from collections.abc import Callable
from types import ModuleType

import pytest

Loader = Callable[[str, str], ModuleType]

LINES = [
    "jaxlib-cuda-13 does not fit here",
    "problem     libcudnn.so.9 is missing, which is needed on this machine by programs that convolve",
    "To fix it: pip install 'jaxlib-cuda-13[with-cuda]==1.2.3' --find-links https://example.org/a/long/address",
]


class Screen(io.StringIO):
    """A stream that is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        """Return what terminals do."""
        return True


class PlainScreen(Screen):
    """A terminal without signs."""

    encoding = "ascii"


def test_an_answer_fits_the_terminal(load_module: Loader, monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict has a mark, long lines go on below their beginning, and the command to paste is one line."""
    monkeypatch.setenv("COLUMNS", "80")
    dress = load_module("cuda13", "pjrt.terminal").dress
    first, *long, last = dress(LINES, Screen(), {"TERM": "xterm", "NO_COLOR": "1"}, fits=False)
    assert (first, last, len(long)) == (f"✗ {LINES[0]}", LINES[2], 2)
    assert (len(long[0]) <= 80, long[1]) == (True, "            programs that convolve")
    assert dress(LINES, Screen(), {"TERM": "xterm"}, fits=True)[0] == f"\x1b[32m✓ {LINES[0]}\x1b[0m"
    assert dress(LINES, PlainScreen(), {"TERM": "xterm", "NO_COLOR": "1"}, fits=False)[0] == LINES[0]


@pytest.mark.parametrize(("stream", "term"), [(Screen(), "dumb"), (io.StringIO(), "xterm")])
def test_what_is_no_terminal_gets_the_lines(load_module: Loader, stream: io.StringIO, term: str) -> None:
    """As they are, for other programs."""
    assert load_module("cuda13", "pjrt.terminal").dress(LINES, stream, {"TERM": term}, fits=False) == LINES
