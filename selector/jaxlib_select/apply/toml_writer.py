# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write TOML 1.0: as much of it as a lock file needs, in the layout that `pylock.toml` files have.

The standard library reads TOML, from Python 3.11, and does not write it.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Mapping, Sequence

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def write_toml(document: Mapping[str, object], path: Sequence[str] = ()) -> str:
    """Return a TOML document, or that part of one whose table has these keys."""
    plain = {key: value for key, value in document.items() if not isinstance(value, Mapping) and not _is_tables(value)}
    blocks = [_entries(plain, _value)] if plain else []
    for key, value in document.items():
        where = (*path, key)
        if isinstance(value, Mapping):
            body = write_toml(value, where)
            # A table with nothing but tables needs no header of its own.
            blocks.append(body if body.startswith("[") else f"[{'.'.join(map(_key, where))}]\n{body}".rstrip())
        elif _is_tables(value) and isinstance(value, (list, tuple)):
            blocks += [f"[[{'.'.join(map(_key, where))}]]\n{_entries(item, _value_in_list)}".rstrip() for item in value]
    return "\n\n".join(block for block in blocks if block) + ("" if path else "\n")


def _entries(table: Mapping[str, object], write: Callable[[object], str]) -> str:
    return "\n".join(f"{_key(key)} = {write(value)}" for key, value in table.items())


def _is_tables(value: object) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)


def _value_in_list(value: object) -> str:
    """Return a value of a table in a list of them: tables in it are written inline, one a line."""
    if _is_tables(value) and isinstance(value, (list, tuple)):
        return "[\n" + "".join(f"    {_value(item)},\n" for item in value) + "]"
    return _value(value)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for the delete character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, dt.datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        entries: list[str] = [f"{_key(key)} = {_value(item)}" for key, item in value.items()]
        return f"{{ {', '.join(entries)} }}" if entries else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    raise TypeError(f"no TOML value: {value!r}")
