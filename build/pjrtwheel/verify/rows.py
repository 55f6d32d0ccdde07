# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of a name and its values, as all that inspection prints is laid out, whole or cut to one line each.

A word that somebody may want to copy, such as a hash, a path or the name of a wheel, is never broken. Where it is
longer than the terminal is wide, the terminal goes on in the next row. What is piped has every value on one line.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from rich.text import Text

from pjrtwheel.errors import printable

SHOWN = 8
# What one screen has where nobody says how wide the terminal is.
WIDTH = 80
# With it a sha256 ends in the 80th column.
LABEL = 14

# A name, and its values: each begins a line.
Row = tuple[str, Sequence[str]]


def heading(text: str) -> Text:
    """Return a line in bold."""
    return Text(printable(text, None), style="bold")


def lay_out(rows: Iterable[Row], width: int | None) -> Iterator[Text]:
    """Yield the lines of rows; they end at `width` between two words, or nowhere when it is not given."""
    table = list(rows)
    label = max([LABEL, *(len(name) + 1 for name, _ in table)])
    for name, values in table:
        indent = f"  {name:<{label}}"
        for value in values:
            for line in _wrap(printable(value, None), label + 2, width):
                yield Text.assemble((indent, "dim"), line)
                indent = " " * len(indent)


def fit_values(values: Sequence[str], width: int = WIDTH, *, used: int = LABEL + 2) -> str:
    """Return values as one line of a row: as many as there is room for, and how many more there are.

    >>> fit_values(["jaxlib==1.2.3", "numpy>=2", "scipy>=1.17"], 44)
    'jaxlib==1.2.3 and 2 more'
    """
    room = width - used
    shown = ", ".join(values)
    for number in range(len(values) - 1, 0, -1):
        if len(shown) <= room:
            return shown
        shown = f"{', '.join(values[:number])} and {len(values) - number} more"
    return shown if len(shown) <= room else f"{shown[: max(room - 3, 1)]}..."


def _wrap(text: str, indent: int, width: int | None) -> list[str]:
    """Return the lines of a text; one that is a single long word may be wider than the terminal."""
    if width is None:
        return [text]
    return textwrap.wrap(text, max(width - indent, 1), break_long_words=False, break_on_hyphens=False) or [""]
