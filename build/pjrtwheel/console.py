# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is printed for people, by what the selector says an output can show.

A console of Rich's for that; and text that is folded on a terminal, so that words stay whole, and elsewhere as it is.
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

from rich.console import Console

if TYPE_CHECKING:
    from jaxlib_select.cli.terminal import Terminal

_COMMANDS = ("./noxw ", "pip install ", "git ", "apt-get ")  # lines with one stay whole, to be pasted


def open_console(stream: TextIO | None = None, environ: Mapping[str, str] | None = None) -> tuple[Console, Terminal]:
    """Return a console for a stream, that for results when absent, and what that can show.

    By itself Rich dyes what goes into a pipe if FORCE_COLOR is set.
    """
    from jaxlib_select.cli.terminal import describe_terminal  # noqa: PLC0415 - on the path of running commands

    stream, environ = stream or sys.stdout, os.environ if environ is None else environ
    terminal = describe_terminal(stream, environ)
    return Console(
        file=stream, highlight=False, force_terminal=terminal.width > 0, no_color=not terminal.colour
    ), terminal


def fold_text(text: str, width: int) -> str:
    """Return a text whose lines are no wider than a terminal where words allow it; what goes on is indented.

    >>> print(fold_text("cuda13: aot, not device: no NVIDIA GPU found", 30))
    cuda13: aot, not device: no
        NVIDIA GPU found
    >>> print(fold_text("  Python  3.12: 15 programs passed", 26))
      Python  3.12: 15
              programs passed
    """
    return "\n".join(_fold_line(line, width) for line in text.split("\n"))


def _fold_line(line: str, width: int) -> str:
    if len(line) <= width or any(command in line for command in _COMMANDS):
        return line
    label = re.match(r" *\S+(?: \S+)* {2,}", line)  # what stands in a column of its own goes on in that column
    indent = " " * (label.end() if label else len(line) - len(line.lstrip()) + 4)
    return textwrap.fill(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False, replace_whitespace=False
    )


def print_text(text: str) -> None:
    """Print what came of a command; programs that read it get each line whole."""
    from jaxlib_select.cli.terminal import describe_terminal  # noqa: PLC0415 - on the path of running commands

    width = describe_terminal(sys.stdout, os.environ).width
    print(fold_text(text, width) if width else text, flush=True)
