# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read TOML with what this Python has for it; one table of texts also where there is nothing."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, Callable

# The standard library's, from Python 3.11, and what it was made from; with the latter under the name pip keeps it by.
_READERS = ("tomllib", "tomli", "pip._vendor.tomli")

_KEY = r"""(?:[A-Za-z0-9_-]+|"[^"\\]*"|'[^']*')"""
_HEADER = re.compile(rf"\[\[?\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*\]?\]\s*(#.*)?")
_ENTRY = re.compile(rf"""(?P<key>{_KEY})\s*=\s*(?P<value>"[^"\\]*"|'[^']*')\s*(#.*)?""")


def find_reader() -> Callable[[str], dict[str, Any]] | None:
    """Return a function that reads TOML, and raises ValueError for anything else; nothing if there is none here."""
    for name in _READERS:
        try:
            reader: Callable[[str], dict[str, Any]] = importlib.import_module(name).loads
        except ImportError:
            continue
        return reader
    return None


def read_table(text: str, path: Sequence[str]) -> Mapping[str, object]:
    """Return a table of a TOML document, empty if it has none.

    Args:
        text: The document.
        path: Keys from the top, such as `("tool", "jaxlib-select", "backends")`; the last is all there may be above it.

    Raises:
        ValueError: The document, or that table, cannot be read, or something else stands beside it.
    """
    reader = find_reader()
    if reader is None:
        return read_plain_table(text, path)
    table: object = reader(text)
    for key in path:
        if key == path[-1] and isinstance(table, dict) and not table.keys() <= {key}:
            raise ValueError(f"unknown keys in [{'.'.join(path[:-1])}]: {', '.join(table)}; known: {key}")
        table = table.get(key, {}) if isinstance(table, dict) else None
    if not isinstance(table, dict):
        raise ValueError(f"{'.'.join(path)} is no table")  # noqa: TRY004  # the file's fault, not the caller's
    return table


def read_plain_table(text: str, path: Sequence[str]) -> Mapping[str, object]:
    r"""Return a table that is written as `[a.b.c]` with one `key = "text"` a line; the rest is passed over.

    >>> read_plain_table('[x]\ny = [\n["z"],\n]\n[tool.x]\njax = "cpu"  # here\n', ("tool", "x"))
    {'jax': 'cpu'}

    Raises:
        ValueError: A line of the table is anything else, or the table is written in another way.
    """
    found: dict[str, object] = {}
    table: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        content = line.strip()
        header = _HEADER.fullmatch(content)
        if header is not None:
            table = _keys(header.group(1))
        elif content.startswith(f"[{path[0]}"):
            raise ValueError(f"line {number}: expected ] at the end of {content!r}")
        elif table == list(path) and content and not content.startswith("#"):
            entry = _ENTRY.fullmatch(content)
            if entry is None:
                raise ValueError(f'line {number}: expected KEY = "TEXT", found {content!r}')
            found[entry["key"].strip("\"'")] = entry["value"][1:-1]
        elif _reaches(table, content, path):
            raise ValueError(f"line {number}: expected a table [{'.'.join(path)}], found {content!r}")
    return found


def _keys(dotted: str) -> list[str]:
    """Return the keys of a header such as `a . "b"`."""
    return [key.strip("\"'") for key in re.findall(_KEY, dotted)]


def _reaches(table: Sequence[str], content: str, path: Sequence[str]) -> bool:
    """Return whether a line outside of a table sets it, in it, or beside it, as `a.b.c.key = "text"` does."""
    name, equals, _ = content.partition("=")
    keys = [*table, *_keys(name)]
    return bool(equals) and not content.startswith("#") and all(a == b for a, b in zip(keys, path[:-1]))
