# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read TOML and JSON values into frozen dataclasses, and write them back.

The annotations of a dataclass are the schema: `read` checks every value against them, and every error names the key
path at which it was found, such as `pin[3].sha256`. Standard library only: repository rules read tables before there is
any environment.

Annotations that are understood: `str`, `int`, `float`, `bool`, `Any`, `object`, `Path`, `Literal`, enumerations,
dataclasses, `X | None`, `tuple[X, ...]`, `list[X]`, `dict[str, X]` and `Mapping[str, X]`.

An attribute with `init=False` is derived: its dataclass sets it in `__post_init__` and `write` writes it. Of what a
document says of it `read` checks the type, and uses no more.
"""

import functools
import json
import re
import reprlib
import tomllib
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, Field, field, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Literal, TypeVar

from pjrtwheel.errors import PinError, explain

T = TypeVar("T")

_SCALARS = {str: "a string", int: "an integer", float: "a number", bool: "true or false"}
LINES = r"(?s).*"  # pattern of a string that may have several lines; any other one is a part of a line
# Of all of them: nothing that a terminal obeys (C0, C1, directions), ends a line elsewhere, or is no text (surrogates).
_TEXT = r"[^\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]*"


class TableError(ValueError):
    """A value that does not fit its dataclass; the message begins with the key path."""


def column(
    *, key: str = "", pattern: str = "", minimum: int | None = None, omit_default: bool = False, **options: Any
) -> Any:
    """Declare an attribute of which the annotation does not say everything.

    Args:
        key: Name in the table, where it is another than the attribute's.
        pattern: Regular expression that a string, or each string of a tuple, must match from end to end.
        minimum: The least that a number may be.
        omit_default: Whether `write` leaves out a value that is the default.
        options: As for `dataclasses.field`, such as `default`.
    """
    found = metadata(key=key, pattern=pattern, minimum=minimum, omit_default=omit_default)
    return field(metadata=found, **options)


def metadata(
    *, key: str = "", pattern: str = "", minimum: int | None = None, omit_default: bool = False
) -> dict[str, object]:
    """Return what `column` adds to a field, for `field(metadata=...)`: a type checker sees that it has no default."""
    return {"key": key, "pattern": pattern, "minimum": minimum, "omit_default": omit_default}


def read(kind: type[T], value: object, where: str = "", *, ignore_unknown: bool = False, **given: Any) -> T:
    """Turn a value of TOML or JSON into an instance of a type.

    Args:
        kind: A dataclass, or any other annotation from the list above.
        value: What `tomllib` or `json` returned.
        where: Key path of the value, for messages.
        ignore_unknown: Whether keys that the dataclass does not have are passed over, at any depth: for documents that
            a newer version may have written.
        given: Attributes of the dataclass that do not come from the table.

    Raises:
        TableError: A key is missing or unknown, or a value is of another type or form.
    """
    if is_dataclass(kind):
        return typing.cast("T", _read_table(kind, value, where, given, lenient=ignore_unknown))
    return typing.cast("T", _read_value(kind, value, where, "", lenient=ignore_unknown))


def read_toml(kind: type[T], text: str, *, ignore_unknown: bool = False, **given: Any) -> T:
    """Read a TOML document; see `read`.

    Raises:
        TableError: The text is not TOML, or its table does not fit.
    """
    try:
        value = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise TableError(f"not TOML: {error}") from error
    return read(kind, value, ignore_unknown=ignore_unknown, **given)


def load_toml(kind: type[T], path: Path, remedy: str = "") -> T:
    """Read a TOML file of pins or decisions.

    Raises:
        PinError: It is missing or malformed.
    """
    try:
        return read_toml(kind, path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, TableError) as error:
        raise PinError(f"{path} cannot be read", cause=explain(error), remedy=remedy) from error


def read_json(kind: type[T], text: str | bytes, where: str = "", *, ignore_unknown: bool = False, **given: Any) -> T:
    """Read a JSON document; see `read`.

    Raises:
        TableError: The text is not JSON in UTF-8, has a key twice or a value that readers take differently, or does
            not fit.
    """
    try:
        decoded = text.decode() if isinstance(text, bytes) else text  # or `json` would take UTF-16 and UTF-32 as well
        value = json.loads(decoded, object_pairs_hook=_unique_keys, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:  # also UnicodeDecodeError
        raise TableError(f"{_before(where)}not JSON: {error}") from error
    origin = typing.get_origin(kind) or object
    if (is_dataclass(kind) or issubclass(origin, Mapping)) and not isinstance(value, dict):
        raise TableError(f"{_before(where)}expected an object, found {_show(value)}")
    return read(kind, value, where, ignore_unknown=ignore_unknown, **given)


def write(value: object) -> Any:
    """Turn dataclasses, at any depth, into the values that `read` takes: what `json.dumps` can write.

    >>> write({"tags": ("py3",), "path": Path("a")})
    {'tags': ['py3'], 'path': 'a'}
    """
    match value:
        case Enum():
            return value.value
        case None | str() | int() | float():
            return value
        case Path():
            return str(value)
        case Mapping():
            return {str(key): write(item) for key, item in value.items()}
        case tuple() | list() | frozenset() | set():
            return [write(item) for item in value]
    if not is_dataclass(value):
        raise TypeError(f"cannot be written to a table: {value!r}")
    return {
        key_of(entry): write(getattr(value, entry.name))
        for entry in fields(value)
        if not (entry.metadata.get("omit_default") and getattr(value, entry.name) == _default(entry))
    }


def write_json(value: object, *, indent: int = 2) -> str:
    """Return the JSON text of a value: sorted keys and a final newline."""
    return json.dumps(write(value), indent=indent, sort_keys=True) + "\n"


def key_of(entry: Field[Any]) -> str:
    """Return the key of an attribute in its table."""
    return entry.metadata.get("key") or entry.name


@functools.cache
def hints_of(kind: type) -> dict[str, Any]:
    """Return the resolved annotations of a dataclass, by attribute."""
    return typing.get_type_hints(kind)


def _default(entry: Field[Any]) -> object:
    return entry.default if entry.default_factory is MISSING else entry.default_factory()


def _read_table(kind: type, value: object, where: str, given: Mapping[str, object], *, lenient: bool) -> object:
    entries = dict(_expect(dict, value, where, "a table"))
    hints = hints_of(kind)
    values = dict(given)
    missing = []
    for entry in fields(kind):
        key = key_of(entry)
        if entry.name in given:
            continue
        if key in entries:
            place = _join(where, key)
            found = _read_value(
                hints[entry.name], entries.pop(key), place, entry.metadata.get("pattern", ""), lenient=lenient
            )
            minimum = entry.metadata.get("minimum")
            if minimum is not None and isinstance(found, int) and found < minimum:
                raise TableError(f"{place}: expected at least {minimum}, found {found}")
            if entry.init:
                values[entry.name] = found
        elif entry.init and entry.default is MISSING and entry.default_factory is MISSING:
            missing.append(key)
    if missing or (entries and not lenient):
        problems = [("lacks", missing), ("has unknown keys", [] if lenient else sorted(map(str, entries)))]
        text = ", and ".join(f"{verb} {', '.join(keys)}" for verb, keys in problems if keys)
        raise TableError(f"{where or 'the document'} {text}")
    try:
        return kind(**values)
    except ValueError as error:  # a check of the dataclass's own, in __post_init__
        raise TableError(f"{_before(where)}{error}") from error


def _read_value(kind: Any, value: object, where: str, pattern: str, *, lenient: bool) -> object:  # noqa: PLR0911 - one return per kind of annotation
    """Check one value against an annotation, and return it converted."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any or kind is object:
        return value
    if origin in {typing.Union, types.UnionType}:
        return _read_union(arguments, value, where, pattern, lenient=lenient)
    if origin is Literal:
        return _one_of(value, arguments, where)
    if origin in {tuple, list}:
        items = enumerate(_expect(list, value, where, "a list"))
        return origin(_read_value(arguments[0], item, f"{where}[{n}]", pattern, lenient=lenient) for n, item in items)
    if origin is not None and issubclass(origin, Mapping):
        table = _expect(dict, value, where, "a table")
        return {
            _read_scalar(str, key, where, ""): _read_value(
                arguments[1], item, _join(where, key), pattern, lenient=lenient
            )
            for key, item in table.items()
        }
    if is_dataclass(kind):
        return _read_table(typing.cast("type", kind), value, where, {}, lenient=lenient)
    if issubclass(kind, Enum):
        return kind(_one_of(value, [member.value for member in kind], where))
    if issubclass(kind, Path):
        return Path(_read_scalar(str, value, where, pattern))
    return _read_scalar(kind, value, where, pattern)


def _read_scalar(kind: type, value: object, where: str, pattern: str) -> Any:
    """Check a string, a number or a truth value; an integer will do for a number with a fraction."""
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    found = _expect(kind, value, where, _SCALARS.get(kind, f"a {kind.__name__}"))
    if isinstance(found, str):
        for form, problem in (
            (_TEXT, "has characters that are not text"),
            (pattern or ".*", f"does not match {pattern!r}"),
        ):
            if not re.fullmatch(form, found, re.ASCII):
                raise TableError(f"{_before(where)}{found!a} {problem}")
    return found


def _read_union(kinds: tuple[Any, ...], value: object, where: str, pattern: str, *, lenient: bool) -> object:
    """Check a value against `X | None`, or against several types of which one fits."""
    if value is None and type(None) in kinds:
        return None
    choices = [kind for kind in kinds if kind is not type(None)]
    for kind in choices[:-1]:
        try:
            return _read_value(kind, value, where, pattern, lenient=lenient)
        except TableError:
            continue
    return _read_value(choices[-1], value, where, pattern, lenient=lenient)


def _one_of(value: object, known: typing.Iterable[object], where: str) -> object:
    if value not in (choices := list(known)):
        raise TableError(f"{where}: {_show(value)} is unknown, expected one of {', '.join(map(str, choices))}")
    return value


def _expect(kind: Any, value: object, where: str, name: str) -> Any:
    """Return a value of a type; `true` is no number."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise TableError(f"{_before(where)}expected {name}, found {_show(value)}")
    return value


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object of JSON; of a key that occurs twice, readers take either value."""
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("an object has a key twice")
    return table


def _no_constant(name: str) -> None:
    """Refuse NaN and Infinity, which Python reads and JSON does not have."""
    raise ValueError(f"{name} is no value")


def _show(value: object) -> str:
    """Return a value for a message; a list or table may be of any length and depth, so only its beginning."""
    return reprlib.repr(value) if isinstance(value, (list, dict)) else repr(value)


def _before(where: str) -> str:
    """Return what stands before a message; nothing for the document as a whole, which the caller names."""
    return f"{where}: " if where else ""


def _join(where: str, key: object) -> str:
    return f"{where}.{key}" if where else str(key)
