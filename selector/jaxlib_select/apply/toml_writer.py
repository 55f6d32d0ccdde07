# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write TOML 1.0: as much of it as a lock file needs, in the layout that `pylock.toml` files have.

The standard library reads TOML, from Python 3.11, and does not write it.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Mapping, Sequence

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def write_toml(document: Mapping[str, object], path: Sequence[str] = ()) -> str:
    """Return a TOML document.

    Args:
        document: Texts, numbers, truth values, times, lists and tables.
        path: Keys of the table that is being written.
    """
    plain = {key: value for key, value in document.items() if not _is_table(value) and not _is_tables(value)}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in plain.items()]
    blocks = ["\n".join(lines)] if lines else []
    for key, value in document.items():
        where = (*path, key)
        if isinstance(value, Mapping):
            blocks.append(_block(f"[{_dotted(where)}]", write_toml(value, where)))
        elif _is_tables(value) and isinstance(value, (list, tuple)):
            blocks += [_block(f"[[{_dotted(where)}]]", write_table_of_list(item)) for item in value]
    return "\n\n".join(block for block in blocks if block) + ("" if path else "\n")


def write_table_of_list(table: Mapping[str, object]) -> str:
    """Return the entries of one table of a list: lists of tables are written inline, one a line."""
    return "\n".join(f"{_key(key)} = {_outer_value(value)}" for key, value in table.items())


def _block(header: str, body: str) -> str:
    # A table with nothing but tables needs no header of its own.
    return body if body.startswith("[") else f"{header}\n{body}".rstrip()


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping)


def _is_tables(value: object) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _dotted(path: Sequence[str]) -> str:
    return ".".join(map(_key, path))


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _outer_value(value: object) -> str:
    if _is_tables(value) and isinstance(value, (list, tuple)):
        return "[\n" + "".join(f"    {_value(item)},\n" for item in value) + "]"
    return _value(value)


def _value(value: object) -> str:
    """Return a value on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dt.datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        entries: list[str] = [f"{_key(key)} = {_value(item)}" for key, item in value.items()]
        return f"{{ {', '.join(entries)} }}" if entries else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    raise TypeError(f"no TOML value: {value!r}")


def _text(text: str) -> str:
    """Return a basic string: JSON's escapes are TOML's, but for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
