# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A schema says of a document what reading it would say."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pjrtwheel import tables
from pjrtwheel.json_schema import describe_attributes, schema_of


class Colour(StrEnum):
    """A closed set."""

    RED = "red"


@dataclass(frozen=True, slots=True)
class Bead:
    """One bead.

    Attributes:
        colour: What it looks like,
            seen by day.
        size: How large it is.
    """

    colour: Colour
    size: float = 1.0


@dataclass(frozen=True, slots=True)
class Abacus:
    """All beads of an instrument.

    It has several rows.

    Attributes:
        name: What it is called.
        beads: Every bead.

    Raises:
        nothing: This is no attribute.
    """

    name: str = field(metadata=tables.metadata(key="title", pattern="[a-z]+"))
    beads: tuple[Bead, ...]
    rows: tuple[int, str] = (1, "one")
    maker: str | None = None
    owner: Bead | int | None = None
    kind: Literal["new", "old"] = "new"
    sizes: Mapping[str, list[int]] = field(default_factory=dict)
    place: Path = Path()
    extra: Any = None
    note: str = tables.column(default="", omit_default=True)
    next: Abacus | None = None
    count: int = field(init=False)

    def __post_init__(self) -> None:
        """Count the beads."""
        object.__setattr__(self, "count", len(self.beads))


SCHEMAS = {written: schema_of(Abacus, "An abacus", written=written) for written in (False, True)}
VALIDATORS = {written: jsonschema.Draft202012Validator(schema) for written, schema in SCHEMAS.items()}
WHOLE = Abacus("soroban", (Bead(Colour.RED),), next=Abacus("suanpan", ()))


def is_valid(document: object, *, written: bool = False) -> bool:
    """Return whether a document fits the schema."""
    return bool(VALIDATORS[written].is_valid(document))


def test_what_is_written_fits() -> None:
    """Every kind of annotation, and a dataclass that names itself."""
    for schema in SCHEMAS.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    assert is_valid(tables.write(WHOLE))
    assert is_valid(tables.write(WHOLE), written=True)


def test_a_written_document_has_every_key() -> None:
    """Others may leave out what has a default, or is derived."""
    small = {"title": "soroban", "beads": []}
    assert (is_valid(small), is_valid(small, written=True)) == (True, False)
    assert not is_valid({"title": "soroban"})


@pytest.mark.parametrize(
    "change",
    [
        {"title": "So"},
        {"beads": [{"colour": "blue"}]},
        {"rows": [1, "one", 2]},
        {"owner": "me"},
        {"kind": "odd"},
        {"sizes": {"a": [1.5]}},
        {"colour": "red"},
        {"next": {"title": "suanpan"}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_cannot_be_read_does_not_fit(change: dict[str, object]) -> None:
    """Wrong values, keys and forms, at any depth."""
    document = {**tables.write(WHOLE), **change}
    with pytest.raises(tables.TableError):
        tables.read(Abacus, document)
    assert not is_valid(document)


@given(
    st.fixed_dictionaries(
        {"title": st.sampled_from(["a", "A"]) | st.integers(), "beads": st.lists(st.just({"colour": "red"}))},
        optional={"rows": st.lists(st.integers() | st.text()), "maker": st.none() | st.text() | st.booleans()},
    )
)
def test_reading_and_schema_agree(document: dict[str, object]) -> None:
    """On documents that are right, and on those that are nearly so."""
    readable = False
    with contextlib.suppress(tables.TableError):
        tables.read(Abacus, document)
        readable = True
    assert is_valid(document) is readable


def test_descriptions_come_from_docstrings() -> None:
    """In one line each, from the section of the attributes alone."""
    assert describe_attributes(Bead) == {"colour": "What it looks like, seen by day.", "size": "How large it is."}
    assert describe_attributes(Abacus) == {"name": "What it is called.", "beads": "Every bead."}
    assert SCHEMAS[False]["$defs"]["Abacus"]["properties"]["title"]["description"] == "What it is called."
