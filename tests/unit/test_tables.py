# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the reader and writer of tables."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pjrtwheel.tables import TableError, column, metadata, read, read_json, read_toml, write, write_json


class Level(StrEnum):
    """A closed set of strings."""

    LOAD = "load"
    DEVICE = "device"


@dataclass(frozen=True, slots=True)
class Program:
    """A table in a list."""

    name: str
    seconds: float = 0.0
    level: Level | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """One attribute of each kind."""

    version: str = column(pattern=r"\d+(\.\d+)*")
    programs: tuple[Program, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    provider: Literal["prebuilt", "source"] = "prebuilt"
    place: Path = Path("dist")
    extra: Any = None
    kind: str = column(key="type", default="wheel")
    note: str = column(default="", omit_default=True)
    count: int = column(default=1, minimum=0)


WHOLE = {
    "version": "1.2.3",
    "programs": [{"name": "fft", "seconds": 1.5, "level": "device"}, {"name": "jit", "seconds": 2.0, "level": None}],
    "sizes": {"a": 1},
    "provider": "source",
    "place": "wheels",
    "extra": {"any": ["thing"]},
    "type": "sdist",
    "count": 0,
}


def test_a_document_is_read_and_written_back_whole() -> None:
    """Every kind of annotation is converted on the way in, and back on the way out."""
    document = read(Document, WHOLE)
    assert document == Document(
        version="1.2.3",
        programs=(Program("fft", 1.5, Level.DEVICE), Program("jit", 2.0)),
        sizes={"a": 1},
        provider="source",
        place=Path("wheels"),
        extra={"any": ["thing"]},
        kind="sdist",
        count=0,
    )
    assert write(document) == WHOLE
    assert read_json(Document, write_json(document)) == document


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": "next"}, r"version: 'next' does not match '\\\\d\+"),
        ({"version": 1}, "version: expected a string, found 1"),
        ({"programs": [{"name": "a"}, {"nam": "b"}]}, r"programs\[1\] lacks name, and has unknown keys nam"),
        ({"programs": [{"name": "a", "seconds": True}]}, r"programs\[0\]\.seconds: expected a number, found True"),
        (
            {"programs": [{"name": "a", "level": "hot"}]},
            r"programs\[0\]\.level: 'hot' is unknown, expected one of load",
        ),
        ({"programs": {}}, r"programs: expected a list, found \{\}"),
        ({"sizes": {"a": "1"}}, "sizes.a: expected an integer, found '1'"),
        ({"provider": "file"}, "provider: 'file' is unknown, expected one of prebuilt, source"),
        ({"count": -1}, "count: expected at least 0, found -1"),
        ({"place": 7}, "place: expected a string, found 7"),
        ({"kind": "wheel"}, "the document has unknown keys kind"),
    ],
)
def test_an_error_names_the_key_path(change: dict[str, object], message: str) -> None:
    """What is wrong is found without opening the file."""
    with pytest.raises(TableError, match=f"^{message}"):
        read(Document, {**WHOLE, **change})


def test_unknown_keys_are_passed_over_where_a_newer_version_may_have_written_them() -> None:
    """At any depth; a missing key is an error even so."""
    newer = {"version": "1", "new": 1, "programs": [{"name": "a", "new": 2}]}
    assert read(Document, newer, ignore_unknown=True) == Document("1", (Program("a"),))
    with pytest.raises(TableError, match="the document lacks version"):
        read(Document, {}, ignore_unknown=True)


def test_text_that_is_not_toml_or_json_is_a_table_error() -> None:
    """The caller has one class of errors to handle."""
    with pytest.raises(TableError, match="not TOML: "):
        read_toml(Document, "version = ")
    with pytest.raises(TableError, match="not JSON: "):
        read_json(Document, b"\xff")
    with pytest.raises(TableError, match="expected an object, found 1"):
        read_json(Document, "1")


@dataclass(frozen=True, slots=True)
class Circle:
    """A table with a derived value."""

    radius: float = field(metadata=metadata(key="r", pattern=""))
    area: float = field(init=False)

    def __post_init__(self) -> None:
        """Derive it."""
        object.__setattr__(self, "area", 3 * self.radius**2)


def test_derived_values_are_written_and_not_believed() -> None:
    """What a document says of one must be of its type, and may be missing; the dataclass knows better."""
    assert write(Circle(2)) == {"r": 2, "area": 12}
    assert read(Circle, {"r": 2}) == read(Circle, {"r": 2, "area": 1}) == Circle(2)
    with pytest.raises(TableError, match="area: expected a number, found 'large'"):
        read(Circle, {"r": 2, "area": "large"})


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_no_value_gives_another_error(value: object) -> None:
    """Whatever a document holds, it is read, or refused with a message."""
    with contextlib.suppress(TableError):
        read(Document, value)


@pytest.mark.parametrize("depth", [10, 400, 990])
def test_a_deep_value_is_refused_in_a_line(depth: int) -> None:
    """A list may be nested as deep as Python's own limit; the message shows its beginning."""
    with pytest.raises(TableError) as caught:
        read_json(Document, "[" * depth + "]" * depth)
    assert len(str(caught.value)) < 200
