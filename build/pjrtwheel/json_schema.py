# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Generate a JSON Schema (draft 2020-12) from dataclasses that `pjrtwheel.tables` reads and writes.

Annotations, patterns and keys give the rules; the first line of a docstring and its section `Attributes:` give the
descriptions.
"""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Literal

from pjrtwheel.tables import hints_of, is_required, key_of, pattern_of

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_SCALARS = {str: "string", Path: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_ATTRIBUTE = re.compile(r"^    (\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Style:
    """How strict documents are.

    Attributes:
        written: Every key is there, but for those that are left out at their default.
        lenient: Unknown keys are ignored, and null is as good as a missing key.
    """

    written: bool
    lenient: bool


def schema_of(kind: type, title: str, *, written: bool = False, lenient: bool = False) -> dict[str, Any]:
    """Return the schema of the documents of a dataclass.

    Args:
        kind: The dataclass; those that its annotations name become definitions.
        title: What the document is.
        written: Whether `tables.write` wrote the document, which then has every key but those that it leaves out at
            their default; otherwise keys with a default may be missing.
        lenient: Whether readers ignore unknown keys, and take null for a missing key.
    """
    definitions: dict[str, Any] = {}
    _define(kind, definitions, _Style(written, lenient))
    root = {"$ref": f"#/$defs/{kind.__name__}"}
    return {"$schema": _DRAFT, "title": title, **root, "$defs": dict(sorted(definitions.items()))}


def describe_attributes(kind: type) -> dict[str, str]:
    """Return what the docstring of a class says of each attribute, in one line."""
    _, _, section = (inspect.getdoc(kind) or "").partition("Attributes:\n")
    return {match[1]: " ".join(match[2].split()) for match in _ATTRIBUTE.finditer(section.partition("\n\n")[0])}


def _define(kind: type, definitions: dict[str, Any], style: _Style) -> None:
    """Add the schema of a dataclass, and of those it names, to some definitions."""
    schema: dict[str, Any] = {"description": (inspect.getdoc(kind) or "").partition("\n")[0], "type": "object"}
    definitions[kind.__name__] = schema  # first: a dataclass may name itself
    hints, described = hints_of(kind), describe_attributes(kind)
    properties = {}
    for entry in fields(kind):
        about = {"description": described[entry.name]} if entry.name in described else {}
        found = _schema(hints[entry.name], pattern_of(entry), definitions, style)
        properties[key_of(entry)] = about | (_or_null(found) if style.lenient else found)
    schema["properties"] = dict(sorted(properties.items()))
    schema["required"] = sorted(key_of(entry) for entry in fields(kind) if _has_key(entry, written=style.written))
    schema["additionalProperties"] = style.lenient


def _has_key(entry: Field[Any], *, written: bool) -> bool:
    """Return whether a document always has the key of an attribute."""
    if written:
        return not entry.metadata.get("omit_default")
    return entry.init and is_required(entry)


def _schema(kind: Any, pattern: str, definitions: dict[str, Any], style: _Style) -> dict[str, Any]:
    """Return the schema of an annotation; a pattern is for its strings, or for the string that stands for it all."""

    def of(inner: Any) -> dict[str, Any]:
        return _schema(inner, pattern, definitions, style)

    if pattern and not _names_strings(kind):
        return _or_null(of(str)) if type(None) in typing.get_args(kind) else of(str)
    if typing.get_origin(kind):
        return _generic(typing.get_origin(kind), typing.get_args(kind), of)
    if kind is Any or kind is object:
        return {}
    if is_dataclass(kind):
        table = typing.cast("type", kind)
        if table.__name__ not in definitions:
            _define(table, definitions, style)
        return {"$ref": f"#/$defs/{table.__name__}"}
    if issubclass(kind, Enum):
        return {"enum": [member.value for member in kind]}
    limit = {"pattern": f"^(?:{pattern})$"} if pattern and kind is str else {}
    return {"type": _SCALARS[kind], **limit}


def _names_strings(kind: Any) -> bool:
    """Return whether there are strings in an annotation."""
    return kind is str or any(map(_names_strings, typing.get_args(kind)))


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that takes null as well."""
    kinds = schema.get("type")
    if kinds is None:
        return {"anyOf": [*schema.get("anyOf", [schema]), {"type": "null"}]} if schema else {}
    names = kinds if isinstance(kinds, list) else [kinds]
    return {**schema, "type": [*names, *(["null"] if "null" not in names else [])]}


def _generic(origin: Any, arguments: tuple[Any, ...], of: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """Return the schema of an annotation with arguments, of which `of` gives the schemas."""
    if origin in {typing.Union, types.UnionType}:
        return _union([of(choice) for choice in arguments])
    if origin is Literal:
        return {"enum": list(arguments)}
    if issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": of(arguments[1])}
    if origin is tuple and arguments[1:] != (...,):
        return {"type": "array", "prefixItems": list(map(of, arguments)), "minItems": len(arguments), "items": False}
    return {"type": "array", "items": of(arguments[0])}


def _union(choices: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the schema of values that fit one of several; those that are types alone become a list of types."""
    if all(choice.keys() == {"type"} for choice in choices):
        return {"type": [choice["type"] for choice in choices]}
    return {"anyOf": choices}
