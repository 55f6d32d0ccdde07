# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write values as Starlark source, laid out as buildifier lays it out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

Value = str | int | bool | Sequence["Value"] | Mapping[str, "Value"]


def to_starlark(value: Value, indent: int = 0) -> str:
    """Return a Starlark expression.

    >>> print(to_starlark({"a": ["b"], "c": []}))
    {
        "a": [
            "b",
        ],
        "c": [],
    }
    """
    inner = "    " * (indent + 1)
    if isinstance(value, bool | int):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if not value:
        return "{}" if isinstance(value, Mapping) else "[]"
    if isinstance(value, Mapping):
        rows = (f"{json.dumps(key)}: {to_starlark(item, indent + 1)}" for key, item in value.items())
        brackets = "{}"
    else:
        rows = (to_starlark(item, indent + 1) for item in value)
        brackets = "[]"
    body = "".join(f"{inner}{row},\n" for row in rows)
    return f"{brackets[0]}\n{body}{'    ' * indent}{brackets[1]}"
