# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Text for people: folded on a terminal, so that words stay whole; elsewhere each line as it is."""

from __future__ import annotations

import shutil
import sys
import textwrap

_COMMAND = "./noxw "  # lines with one stay whole, to be pasted


def fold_text(text: str, width: int) -> str:
    """Return a text whose lines are no wider than a terminal where words allow it; what goes on is indented.

    >>> print(fold_text("cuda13: aot, not device: no NVIDIA GPU found", 30))
    cuda13: aot, not device: no
        NVIDIA GPU found
    """
    return "\n".join(_fold_line(line, width) for line in text.split("\n"))


def _fold_line(line: str, width: int) -> str:
    if len(line) <= width or _COMMAND in line:
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.fill(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False, replace_whitespace=False
    )


def print_text(text: str) -> None:
    """Print what came of a command; programs that read it get each line whole."""
    print(fold_text(text, shutil.get_terminal_size().columns) if sys.stdout.isatty() else text, flush=True)
