# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""An answer as a terminal shows it: wrapped at its width, the verdict with a mark and in colour; elsewhere as it is.

What a terminal can show is decided by the rule of `jaxlib_select.cli.terminal`, which is not installed with a wheel.
One test asks both about the same outputs.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TextIO

COMMAND = "To fix it: "  # how a line begins that is pasted, and stays in one piece
_LABEL = 12  # columns of a label, below which the rest of a long line is put
_LINES_ONLY = ("", "dumb", "unknown")  # values of TERM
_SIGNS = "✓✗▸…"  # that a terminal has all of, or none is written
_MARKS = {True: ("✓", "32"), False: ("✗", "31")}  # whether it fits → mark, and code of its colour


class Terminal(NamedTuple):
    """What an output can show: its columns, 0 where lines stay as they are; whether it has marks, and colours."""

    width: int = 0
    marks: bool = False
    colour: bool = False


def describe_terminal(stream: TextIO, environ: Mapping[str, str]) -> Terminal:
    """Return what a stream can show; the rule is said in the selector's function of this name."""
    if not stream.isatty() or environ.get("TERM", "") in _LINES_ONLY:
        return Terminal()
    return Terminal(shutil.get_terminal_size().columns, _can_show(_SIGNS, stream.encoding), not environ.get("NO_COLOR"))


def dress(lines: Sequence[str], stream: TextIO, environ: Mapping[str, str], *, fits: bool) -> list[str]:
    """Return the lines of an answer, of which the first is the verdict, as they are printed to a stream."""
    terminal = describe_terminal(stream, environ)
    if not terminal.width:
        return list(lines)
    wrapped = wrap(lines, terminal.width)
    mark, colour = _MARKS[fits]
    if terminal.marks:
        wrapped[0] = f"{mark} {wrapped[0]}"
    return [f"\x1b[{colour}m{wrapped[0]}\x1b[0m", *wrapped[1:]] if terminal.colour else wrapped


def _can_show(signs: str, encoding: str | None) -> bool:
    """Return whether an encoding has all of some signs.

    >>> _can_show("✓", "utf-8"), _can_show("✓", "ascii"), _can_show("✓", None)
    (True, False, False)
    """
    try:
        signs.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def wrap(lines: Sequence[str], width: int) -> list[str]:
    """Return lines that are no wider than a terminal, apart from a command and from words that are longer.

    >>> wrap(["no", "devices     NVIDIA H100 80GB", "To fix it: pip install jax jaxlib"], 25)
    ['no', 'devices     NVIDIA H100', '            80GB', 'To fix it: pip install jax jaxlib']
    """
    found = []
    for number, line in enumerate(lines):
        label = line[:_LABEL] if number else ""
        room = width if number else width - 2  # the mark comes before the first
        whole = line.startswith(COMMAND) or len(line) <= room or width <= 2 * _LABEL
        found += [line] if whole else _fold(line, label, room)
    return found


def _fold(line: str, label: str, width: int) -> list[str]:
    """Return a line in pieces; below a label stands what belongs to it."""
    indent = " " * len(label) if label.endswith(" ") else "  "
    start = label if label.endswith(" ") else ""
    return textwrap.wrap(
        line.removeprefix(start), width, initial_indent=start, subsequent_indent=indent, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
