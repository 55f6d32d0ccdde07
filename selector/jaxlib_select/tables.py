# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read values of JSON and TOML into frozen dataclasses, and write them back; standard library only, quick to import.

The annotations of a dataclass are the schema: every value is checked against them, and an error names the key path at
which it was found, such as `nvidia.gpus[0].name`. Unknown keys are ignored, since a newer version may have written
them, and null is as good as a missing key. Strings must be printable: control characters would forge lines of what is
printed from them.

Annotations that are understood: `str`, `int`, `bool`, `Any`, `object`, dataclasses, `X | None`, `tuple[X, ...]` and
`Mapping[str, X]`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass

TYPE_CHECKING = False  # typing is imported where something is read: detection only writes, and must start fast
if TYPE_CHECKING:
    from typing import Any, TypeVar

    T = TypeVar("T")

_FORM = "form"
_OMIT = "omit_default"
_SCALARS = {str: "a string", int: "a whole number", bool: "true or false"}

Reader = Callable[[object, str], object]  # from a value and its key path to what it becomes


class TableError(ValueError):
    """A value that does not fit its dataclass; the message begins with the key path."""


@dataclass(frozen=True, slots=True)
class Form:
    """A string of a certain form, and its value.

    Attributes:
        pattern: Regular expression that it matches from end to end.
        expected: The form in words, with an example.
        parse: Turns the string into a value.
        format: Turns the value into a string; None if it is one.
    """

    pattern: str
    expected: str
    parse: Callable[[str], object] = str
    format: Callable[[Any], str | None] | None = None


def column(*, key: str = "", form: Form | None = None, omit_default: bool = False, **options: Any) -> Any:
    """Declare an attribute that needs more than its annotation.

    Args:
        key: Name in the table, where it is another than the attribute's.
        form: Form of the string, or of each of the strings, that is its value in a table.
        omit_default: Whether `write` leaves out a value that is the default.
        options: As for `dataclasses.field`, such as `default`.
    """
    metadata = {"key": key, "pattern": form.pattern if form else "", _FORM: form, _OMIT: omit_default}
    return field(metadata=metadata, **options)


def read(kind: Callable[..., T], value: object, where: str = "") -> T:
    """Turn a value that `json` or `tomllib` returned into a dataclass; `where` is its key path, for messages.

    Raises:
        TableError: A key is missing, or a value is of another type or form.
    """
    found: T = _reader_of(kind, None)(value, where)  # type: ignore[assignment]
    return found


def write(value: object) -> Any:
    """Turn dataclasses, at any depth, into the values that `read` takes: what `json.dumps` can write."""
    if isinstance(value, Mapping):
        return {key: write(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [write(item) for item in value]
    if not is_dataclass(value):
        return value
    found = {}
    for entry in fields(value):
        item, form = getattr(value, entry.name), entry.metadata.get(_FORM)
        if not (entry.metadata.get(_OMIT) and item == _default(entry)):
            found[_key_of(entry)] = (
                write(item) if item is None or form is None or form.format is None else form.format(item)
            )
    return found


def unknown_keys(
    kind: type, document: Mapping[str, object], where: str = ""
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the place of every key that a dataclass does not have, the key, and the keys that it has there."""
    hints = _hints_of(kind)
    for key, value in document.items():
        if key not in hints:
            yield where, key, tuple(hints)
            continue
        inner = _dataclass_in(hints[key])
        for part in value if isinstance(value, list) else [value]:
            if inner is not None and isinstance(part, dict):
                yield from unknown_keys(inner, part, f"{where}{key}.")


def show(value: object) -> str:
    """Return a value short enough for a message."""
    try:
        text = repr(value)
    except RecursionError:
        return "too deep"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _error(where: str, value: object, expected: str) -> TableError:
    return TableError(f"{where or 'the document'} is {show(value)}, expected {expected}")


@functools.cache
def _hints_of(kind: type) -> dict[str, Any]:
    """Return the resolved annotations of a dataclass, by key."""
    import typing

    hints = typing.get_type_hints(kind)
    return {_key_of(entry): hints[entry.name] for entry in fields(kind)}


@functools.cache
def _reader_of(kind: Any, form: Form | None) -> Reader:
    """Return what reads the values of an annotation."""
    import types
    import typing

    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in {typing.Union, types.UnionType}:
        (inner,) = (choice for choice in arguments if choice is not type(None))
        return _reader_of(inner, form)  # null is handled as a missing key
    if form is not None and kind != tuple[str, ...]:
        return functools.partial(_read_form, form)
    if origin is tuple:
        return functools.partial(_read_list, _reader_of(arguments[0], form))
    if origin is not None and issubclass(origin, Mapping):
        return functools.partial(_read_mapping, _reader_of(arguments[1], form))
    if is_dataclass(kind):
        return functools.partial(_read_dataclass, kind, _columns_of(kind))
    return functools.partial(_read_scalar, kind) if kind in _SCALARS else lambda value, _: value


def _columns_of(kind: Any) -> list[tuple[Field[Any], Reader]]:
    hints = _hints_of(kind)
    return [(entry, _reader_of(hints[_key_of(entry)], entry.metadata.get(_FORM))) for entry in fields(kind)]


def _read_form(form: Form, value: object, where: str) -> object:
    if not isinstance(value, str) or not re.fullmatch(form.pattern, value):
        raise _error(where, value, form.expected)
    return form.parse(value)


def _read_scalar(kind: type, value: object, where: str) -> object:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise _error(where, value, _SCALARS[kind])
    if isinstance(value, str) and not value.isprintable():
        raise _error(where, value, "a string that can be printed")
    return value


def _read_list(reader: Reader, value: object, where: str) -> object:
    if not isinstance(value, list):
        raise _error(where, value, "a list")
    return tuple(reader(item, f"{where}[{number}]") for number, item in enumerate(value))


def _read_mapping(reader: Reader, value: object, where: str) -> object:
    table = _object(value, where)
    odd = next((key for key in table if not key.isprintable()), None)
    if odd is not None:
        raise _error(where, odd, "keys that can be printed")
    return {key: reader(item, f"{where}.{key}") for key, item in table.items()}


def _read_dataclass(kind: Any, columns: list[tuple[Field[Any], Reader]], value: object, where: str) -> object:
    table = _object(value, where)
    found = {}
    for entry, reader in columns:
        place = f"{where}.{_key_of(entry)}" if where else _key_of(entry)
        if (item := table.get(_key_of(entry))) is not None:
            found[entry.name] = reader(item, place)
        elif entry.default is MISSING and entry.default_factory is MISSING:
            raise TableError(f"{place} is missing")
    return kind(**found)


def _object(value: object, where: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise _error(where, value, "an object")
    return value


def _key_of(entry: Field[Any]) -> str:
    """Return the key of an attribute in its table."""
    return entry.metadata.get("key") or entry.name


def _default(entry: Field[Any]) -> object:
    """Return the default of an attribute."""
    return entry.default if entry.default_factory is MISSING else entry.default_factory()


def _dataclass_in(kind: Any) -> Any:
    """Return the dataclass that an annotation is about, such as that of `tuple[X, ...]`."""
    import typing

    return next((choice for choice in (kind, *typing.get_args(kind)) if is_dataclass(choice)), None)
