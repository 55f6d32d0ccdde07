# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Tables and lines of Markdown."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

_LINE_LENGTH = 120  # as in [tool.rumdl] of pyproject.toml


def render_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    r"""Return a table; a bar within a cell does not end it.

    >>> print(render_table(["a", "b"], [["1|2", "3"]]))
    | a | b |
    |---|---|
    | 1\|2 | 3 |
    """
    lines = [_line(header), "|" + "---|" * len(header), *map(_line, rows)]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    escaped = " | ".join(cell.replace("|", r"\|") for cell in cells)
    return f"| {escaped} |"


def plain(text: str) -> str:
    r"""Return a text that may hold code in backticks so that nothing else in it is markup, and addresses are links.

    >>> plain("see https://example.org/, or *.json in `a*b`")
    'see <https://example.org/>, or \\*.json in `a*b`'
    """
    parts = text.split("`")
    parts[::2] = [re.sub(r"(https?://[^\s,;)]+)", r"<\1>", re.sub(r"([*<])", r"\\\1", part)) for part in parts[::2]]
    return "`".join(parts)


def code(text: str) -> str:
    """Return a name or value as code."""
    return f"`{text}`"


def paragraph(text: str) -> str:
    """Return a paragraph, wrapped like all Markdown here."""
    return textwrap.fill(" ".join(text.split()), _LINE_LENGTH, break_long_words=False, break_on_hyphens=False)
