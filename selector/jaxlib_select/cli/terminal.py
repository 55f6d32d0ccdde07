# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""How an answer looks on a terminal: wrapped at its width, the verdict with a mark and in colour; elsewhere plain.

`describe_terminal` has the rule for all that this repository prints. The tooling calls it; the wheels, which are
installed without this package, follow it in `pjrt.terminal`, and one test asks all of them about the same outputs.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

_LABELLED = re.compile(r"(?:[✓✗] )?\S+ {2,}(?:\S+ {2,})?")  # a label, and in `resolve` a backend
_LABELS = ("error:", "warning:", "note:")
# How lines begin that are pasted, and stay whole.
_COMMANDS = ("  ", "install ", "constraint ", "set ", "index ", "next")
_NOTE = "  ("  # how a note on a command begins
_LINES_ONLY = ("", "dumb", "unknown")  # values of TERM
_SIGNS = "✓✗▸…"  # all that are written
_RED, _YELLOW, _GREEN = "31", "33", "32"
_COLOURS = {"error:": _RED, "warning:": _YELLOW}


@dataclass(frozen=True)
class Terminal:
    """What an output can show.

    Attributes:
        width: Its columns; 0 where nothing is wrapped, because it is no terminal.
        marks: Whether it has the signs for right and wrong.
        colour: Whether colours are wanted.
    """

    width: int = 0
    marks: bool = False
    colour: bool = False


def describe_terminal(stream: TextIO, environ: Mapping[str, str]) -> Terminal:
    """Return what a stream can show.

    - What is no terminal gets lines, as does one whose TERM is not set, empty, `dumb` or `unknown`. Nothing else makes
      a terminal of it, such as FORCE_COLOR: another program may read what is printed.
    - A terminal has marks if its encoding has all of them.
    - It has colours unless NO_COLOR is set, to anything but the empty string.
    """
    if not stream.isatty() or environ.get("TERM", "") in _LINES_ONLY:
        return Terminal()
    return Terminal(shutil.get_terminal_size().columns, _has_signs(stream.encoding), not environ.get("NO_COLOR"))


def _has_signs(encoding: str | None) -> bool:
    """Return whether all marks can be written.

    >>> _has_signs("utf-8"), _has_signs("cp65001"), _has_signs("cp1252"), _has_signs(None)
    (True, True, False, False)
    """
    try:
        _SIGNS.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def dress(lines: Sequence[str], terminal: Terminal, *, well: bool | None = None) -> list[str]:
    """Return lines for a terminal; of an answer, which is well or is not, the first line is the verdict."""
    dressed = []
    for number, line in enumerate(lines):
        verdict = number == 0 and well is not None
        colour = (_GREEN if well else _RED) if verdict else _COLOURS.get(line.partition(" ")[0], "")
        text = _mark(line, "✓" if well else "✗") if verdict and terminal.marks else line
        shown = wrap(text, terminal.width) if terminal.width else [text]
        if terminal.colour and colour:
            shown = [f"\x1b[{colour}m{part}\x1b[0m" for part in shown]
        dressed += shown
    return dressed


def say(text: str) -> None:
    """Print warnings or notes to standard error."""
    print("\n".join(dress(text.splitlines(), describe_terminal(sys.stderr, os.environ))), file=sys.stderr)


def _mark(line: str, mark: str) -> str:
    """Put a mark before a line; where its label has room, what comes after that stays in its column."""
    return f"{mark} {line.replace('   ', ' ', 1)}" if re.match(r"\S+ {3}", line) else f"{mark} {line}"


def wrap(line: str, width: int) -> list[str]:
    """Return a line in pieces that are no wider than a terminal, apart from a command and from words that are longer.

    >>> wrap("error: jaxlib is missing", 16), wrap("  pip install jax jaxlib", 16)
    (['error: jaxlib is', '  missing'], ['  pip install jax jaxlib'])
    """
    if len(line) <= width or (line.startswith(_COMMANDS) and not line.startswith(_NOTE)):
        return [line]
    import textwrap  # most lines fit

    labels = "" if line.startswith(_LABELS) else _LABELLED.match(line)
    indent = " " * len(labels[0]) if labels and 3 * len(labels[0]) <= 2 * width else "  "
    return textwrap.wrap(
        line,
        width,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
    )
