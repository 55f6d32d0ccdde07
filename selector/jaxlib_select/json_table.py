# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Take values out of a JSON object, checked as they are taken, so that errors name their keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from jaxlib_select.errors import MachineError

T = TypeVar("T")


class UnfitError(Exception):
    """A value is of the wrong type or form; the message says what is expected."""


class Table:
    """A JSON object of a machine description.

    Args:
        entries: Its values by key.
        where: Where it stands in the document: keys with dots, and one at the end.
    """

    def __init__(self, entries: Mapping[str, object], where: str = "") -> None:
        """Remember the values."""
        self._entries = entries
        self._where = where

    def get(self, key: str, read: Callable[[object], T]) -> T | None:
        """Return a converted value, or nothing if it is missing or null."""
        value = self._entries.get(key)
        return None if value is None else self._read(key, value, read)

    def list(self, key: str, read: Callable[[object], T]) -> tuple[T, ...]:
        """Return a list of converted values, empty if it is missing or null."""
        values = self.get(key, as_items) or []
        return tuple(self._read(f"{key}[{index}]", value, read) for index, value in enumerate(values))

    def table(self, key: str) -> Table:
        """Return an object, empty if it is missing or null."""
        return Table(self.get(key, as_object) or {}, f"{self._where}{key}.")

    def tables(self, key: str) -> tuple[Table, ...]:
        """Return a list of objects."""
        return tuple(
            Table(entries, f"{self._where}{key}[{index}].") for index, entries in enumerate(self.list(key, as_object))
        )

    def _read(self, key: str, value: object, read: Callable[[object], T]) -> T:
        """Convert one value, and name its key when that fails."""
        try:
            return read(value)
        except UnfitError as error:
            raise MachineError(
                f"machine description: {self._where}{key} is {show(value)}, expected {error}",
                remedy="'jaxlib-select detect --json' writes the expected form",
            ) from error


def as_object(value: object) -> dict[str, object]:
    """Return an object, or refuse the value."""
    if not isinstance(value, dict):
        raise UnfitError("an object")
    return value


def as_items(value: object) -> Any:
    """Return a list, or refuse the value."""
    if not isinstance(value, list):
        raise UnfitError("a list")
    return value


def as_text(value: object) -> str:
    """Return a text, or refuse the value: control characters would forge lines of what is printed."""
    if not isinstance(value, str):
        raise UnfitError("a text")
    if not value.isprintable():
        raise UnfitError("a text that can be printed")
    return value


def as_one_of(*known: str) -> Callable[[object], str]:
    """Return a reader that takes one of a few texts, or refuses the value."""

    def read(value: object) -> str:
        if not isinstance(value, str) or value not in known:
            raise UnfitError(f"one of {', '.join(map(repr, known))}")
        return value

    return read


def as_texts(value: object) -> dict[str, str]:
    """Return an object of texts, or refuse the value."""
    try:
        return {as_text(key): as_text(item) for key, item in as_object(value).items()}
    except UnfitError as error:
        raise UnfitError("an object of texts") from error


def as_truth(value: object) -> bool:
    """Return true or false, or refuse the value."""
    if not isinstance(value, bool):
        raise UnfitError("true or false")
    return value


def as_whole(value: object) -> int:
    """Return a whole number, or refuse the value."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise UnfitError("a whole number")
    return value


def unknown_keys(
    document: Mapping[str, object], form: Mapping[str, Any], where: str = ""
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the place of every key that a form does not have, the key, and the keys that it has there.

    Args:
        document: What was read.
        form: The same with every key there is; of a list one entry.
        where: The place of both.

    >>> list(unknown_keys({"a": [{"c": 1}], "b": 3}, {"a": [{"d": 0}]}))
    [('a.', 'c', ('d',)), ('', 'b', ('a',))]
    """
    for key, value in document.items():
        if key not in form:
            yield where, key, tuple(form)
            continue
        inner = form[key][0] if isinstance(form[key], list) and form[key] else form[key]
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict) and isinstance(inner, dict):
                yield from unknown_keys(part, inner, f"{where}{key}.")


def kind_of(value: object) -> str:
    """Return what JSON calls a value."""
    return {list: "a list", str: "a text", bool: "true or false", type(None): "null"}.get(type(value), "a number")


def show(value: object) -> str:
    """Return a value short enough for a message."""
    try:
        text = repr(value)
    except RecursionError:
        return "too deep"
    return text if len(text) <= 60 else f"{text[:57]}..."
