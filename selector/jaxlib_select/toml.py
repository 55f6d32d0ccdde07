# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read one table of texts out of a TOML file, also on Pythons older than `tomllib` (3.11)."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence

_ENTRY = re.compile(r"""(?P<key>[A-Za-z0-9_-]+|"[^"\\]*"|'[^']*')\s*=\s*(?P<value>"[^"\\]*"|'[^']*')\s*(#.*)?""")


def read_table(text: str, path: Sequence[str]) -> Mapping[str, object]:
    """Return a table of a TOML document, empty if it has none.

    Args:
        text: The document.
        path: Keys from the top, such as `("tool", "jaxlib-select", "backends")`.

    Raises:
        ValueError: The document, or that table, cannot be read.
    """
    if sys.version_info < (3, 11):
        return read_plain_table(text, path)
    import tomllib  # not there on every Python

    table: object = tomllib.loads(text)
    for key in path:
        table = table.get(key, {}) if isinstance(table, dict) else None
    if not isinstance(table, dict):
        raise ValueError(f"{'.'.join(path)} is no table")  # noqa: TRY004  # the file's fault, not the caller's
    return table


def read_plain_table(text: str, path: Sequence[str]) -> Mapping[str, object]:
    r"""Return a table that is written as `[a.b.c]` with one `key = "text"` a line, all that is asked of it.

    >>> read_plain_table('[tool.x]\njax = "cpu"  # here\n', ("tool", "x"))
    {'jax': 'cpu'}

    Raises:
        ValueError: A line of the table is anything else.
    """
    found: dict[str, object] = {}
    table: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        content = line.strip()
        if content.startswith("["):
            table = _read_header(content, number)
        elif table == list(path) and content and not content.startswith("#"):
            entry = _ENTRY.fullmatch(content)
            if entry is None:
                raise ValueError(f'line {number}: expected KEY = "TEXT", found {content!r}')
            found[entry["key"].strip("\"'")] = entry["value"][1:-1]
        elif table == list(path[:-1]) and content.partition("=")[0].strip(" \"'") == path[-1]:
            raise ValueError(f"line {number}: expected a table [{'.'.join(path)}], found {content!r}")
    return found


def _read_header(content: str, number: int) -> list[str]:
    """Return the keys of a line such as `[a.b]`.

    Raises:
        ValueError: It does not end.
    """
    header = content.partition("#")[0].strip()
    if not header.endswith("]"):
        raise ValueError(f"line {number}: expected ] at the end of {content!r}")
    return [part.strip(" \"'") for part in header.strip("[] ").split(".")]
