# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Reading tables into dataclasses on the user's side, and writing them back."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from jaxlib_select.tables import Form, TableError, column, read, unknown_keys, write


@dataclass(frozen=True, slots=True)
class Bead:
    """An item of a list."""

    color: str
    sizes: tuple[str, ...] = column(form=Form("[0-9]+mm", "a size such as '3mm'", str.upper), default=())


@dataclass(frozen=True, slots=True)
class Abacus:
    """A document."""

    wires: int = column(key="number-of-wires")
    beads: tuple[Bead, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    broken: bool | None = column(omit_default=True, default=None)


def test_a_document_is_read_and_written() -> None:
    """By keys, forms and defaults; null and unknown keys are as good as none."""
    document = {"number-of-wires": 10, "beads": [{"color": "red", "sizes": ["3mm"]}], "broken": None, "new": 1}
    abacus = read(Abacus, document)
    assert abacus == Abacus(10, (Bead("red", ("3MM",)),))
    beads = [{"color": "red", "sizes": ["3MM"]}]
    assert write(abacus) == {"number-of-wires": 10, "beads": beads, "names": {}}


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ([], "the document is []"),
        ({}, "number-of-wires is missing"),
        ({"number-of-wires": True}, "number-of-wires is True"),
        ({"number-of-wires": 1, "beads": {}}, "beads is {}"),
        ({"number-of-wires": 1, "beads": [{"color": "a"}, {}]}, "beads[1].color is missing"),
        ({"number-of-wires": 1, "beads": [{"color": "\n"}]}, r"beads[0].color is '\n'"),
        ({"number-of-wires": 1, "beads": [{"color": "a", "sizes": ["3mm", "big"]}]}, "beads[0].sizes[1] is 'big'"),
        ({"number-of-wires": 1, "names": {"a": 1}}, "names.a is 1"),
        ({"number-of-wires": 1, "names": {"\n": ""}}, r"names is '\n'"),
        ({"number-of-wires": 1, "broken": "no"}, "broken is 'no'"),
    ],
)
def test_an_error_names_the_key_path(document: object, named: str) -> None:
    """And the value."""
    with pytest.raises(TableError) as caught:
        read(Abacus, document)
    assert str(caught.value).startswith(named)


def test_unknown_keys_are_listed_with_the_known_ones() -> None:
    """At any depth, without the numbers of list items."""
    document = {"beads": [{"colour": 1}], "wires": 1}
    known = ("number-of-wires", "beads", "names", "broken")
    assert list(unknown_keys(Abacus, document)) == [("beads.", "colour", ("color", "sizes")), ("", "wires", known)]
