# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The keys of a document, from the dataclasses that read or write it: one table for each table within it."""

from __future__ import annotations

import json
import typing
from collections.abc import Collection, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from typing import Any, Literal

from pjrtwheel.json_schema import schema_of
from pjrtwheel.reference.markdown import code, paragraph, render_table
from pjrtwheel.tables import hints_of, key_of

Style = Literal["toml", "json"]
_HEADER = ("key", "value", "default", "meaning")
_PLURALS = {"string": "strings", "integer": "integers", "table": "tables", "object": "objects"}


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in the document a dataclass is.

    Attributes:
        path: Without brackets, such as `wheels[].proof`, or `tools.NAME`; empty for the document itself.
        several: Whether it is an item of a list.
    """

    path: str
    several: bool = False


@dataclass(frozen=True, slots=True)
class _Document:
    """What is rendered, and how.

    Attributes:
        definitions: Name of a dataclass → its JSON Schema.
        style: How key paths are written.
        places: Name of a dataclass → where it is; the first place, if there are several.
        given: Attributes of the outermost dataclass that do not come from the document.
    """

    definitions: Mapping[str, Any]
    style: Style
    places: dict[str, _Place]
    given: Collection[str]

    def schema_of(self, table: type, entry: Field[Any]) -> Mapping[str, Any]:
        """Return the schema of an attribute."""
        found: Mapping[str, Any] = self.definitions[table.__name__]["properties"][key_of(entry)]
        return found

    def locate(self, name: str) -> str:
        """Return the place of a dataclass as the document's language has it."""
        place = self.places[name]
        if self.style == "json":
            return place.path
        return f"[[{place.path}]]" if place.several else f"[{place.path}]"

    def place_in(self, table: type, entry: Field[Any]) -> str:
        """Return the key path of an attribute."""
        place = self.places[table.__name__]
        several = "[]" if place.several and self.style == "json" else ""
        return f"{place.path}{several}.{key_of(entry)}".removeprefix(".")


def render_keys(
    kind: type,
    style: Style = "toml",
    *,
    path: str = "",
    several: bool = False,
    given: Collection[str] = (),
    written: bool = False,
    lenient: bool = False,
) -> str:
    """Return the tables of keys of a dataclass and of those in it; the first has a heading if it has a path.

    Args:
        kind: The dataclass.
        style: How key paths are written.
        path: Where in the document it is; empty for the document itself.
        several: Whether it is an item of a list there.
        given: Attributes that do not come from the document.
        written: As for `schema_of`.
        lenient: As for `schema_of`.
    """
    definitions = schema_of(kind, "", written=written, lenient=lenient)["$defs"]
    document = _Document(definitions, style, {kind.__name__: _Place(path, several)}, given)
    tables = list(_walk(kind, document))  # all places are known then
    return "\n\n".join(_render_table(table, document, outermost=table is kind) for table in tables)


def _render_table(table: type, document: _Document, *, outermost: bool) -> str:
    name = table.__name__
    heading = f"### {code(document.locate(name))}\n\n" if document.places[name].path else ""
    rows = [_row(table, entry, document) for entry in _entries(table, document, outermost=outermost)]
    return f"{heading}{paragraph(document.definitions[name]['description'])}\n\n{render_table(_HEADER, rows)}"


def _entries(table: type, document: _Document, *, outermost: bool) -> list[Field[Any]]:
    return [entry for entry in fields(table) if not (outermost and entry.name in document.given)]


def _walk(kind: type, document: _Document) -> Iterator[type]:
    """Yield a dataclass, then those that it names, in order; each gets the first place that it is found at."""
    known = {table.__name__: table for table in _find_dataclasses(kind)}
    waiting = [kind]
    for table in waiting:
        yield table
        for entry in _entries(table, document, outermost=table is kind):
            path = document.place_in(table, entry)
            for name, place in _find_places(document.schema_of(table, entry), path):
                if name not in document.places:
                    document.places[name] = place
                    waiting.append(known[name])


def _find_dataclasses(kind: type) -> list[type]:
    """Return a dataclass and all that its annotations name, at any depth."""
    found = [kind]
    for table in found:
        hints = list(hints_of(table).values())
        for hint in hints:
            hints += typing.get_args(hint)
            if is_dataclass(hint) and hint not in found:
                found.append(typing.cast("type", hint))
    return found


def _find_places(schema: Mapping[str, Any], path: str) -> Iterator[tuple[str, _Place]]:
    """Yield the name of each definition that a schema refers to, with its place."""
    if "$ref" in schema:
        yield _name_of(schema), _Place(path)
    for choice in schema.get("anyOf", ()):
        yield from _find_places(choice, path)
    if isinstance(items := schema.get("items"), Mapping):
        yield from ((name, _Place(place.path, several=True)) for name, place in _find_places(items, path))
    if isinstance(values := schema.get("additionalProperties"), Mapping):
        yield from _find_places(values, f"{path}.NAME")


def _name_of(schema: Mapping[str, Any]) -> str:
    """Return the definition that a reference leads to."""
    return str(schema["$ref"]).rpartition("/")[2]


def _row(table: type, entry: Field[Any], document: _Document) -> tuple[str, str, str, str]:
    schema, required = document.schema_of(table, entry), document.definitions[table.__name__]["required"]
    default = "required" if key_of(entry) in required else _describe_default(entry)
    return code(key_of(entry)), _describe_kind(schema, document), default, schema.get("description", "")


def _describe_default(entry: Field[Any]) -> str:
    """Return what holds without the key; empty where that is nothing."""
    value = entry.default if entry.default_factory is MISSING else entry.default_factory()
    value = value.value if isinstance(value, Enum) else value
    if isinstance(value, bool) or (value and isinstance(value, (str, int, float))):
        return code(json.dumps(value))
    return ""


def _describe_kind(schema: Mapping[str, Any], document: _Document) -> str:
    """Return in words what a value is; null is no value but in JSON."""
    table = "object" if document.style == "json" else "table"
    match schema:
        case {"$ref": _}:
            return f"{table} {code(document.locate(_name_of(schema)))}"
        case {"enum": values}:
            return ", ".join(code(str(value)) for value in values)
        case {"anyOf": kinds} | {"type": list(kinds)}:
            choices = [{"type": kind} if isinstance(kind, str) else kind for kind in kinds]
            shown = [kind for kind in choices if document.style == "json" or kind != {"type": "null"}]
            return " or ".join(_describe_kind(choice, document) for choice in shown)
    match schema:
        case {"items": dict(item)}:
            first, *rest = _describe_kind(item, document).split(" ", maxsplit=1)
            return " ".join(["list of", _PLURALS.get(first, first), *rest])
        case {"additionalProperties": dict(value)}:
            return f"{table}: name → {_describe_kind(value, document)}"
    kind = schema.get("type", "any value")
    return {"boolean": "true or false", "object": table}.get(kind, str(kind))
