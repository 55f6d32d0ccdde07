# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Whether what a wheel requires is available; the index is a table here."""

from __future__ import annotations

import pytest

from pjrtwheel.errors import FetchError
from pjrtwheel.verify.findings import Finding
from pjrtwheel.verify.inspection import find_unresolvable, parse_versions

INDEX = {"numpy": ("2.4.0", "1.26.0"), "beta": ("1.0rc1",)}


def test_requirements_that_no_version_fulfils_are_found() -> None:
    """Lines that cannot be read, or name a place of their own, are another finding's business."""
    requires = ["numpy>=2", 'numpy<1; extra == "old"', "beta", "gone", "a b c", "d @ https://example.org/d.whl"]

    assert list(find_unresolvable(requires, lambda name: INDEX.get(name, ()))) == [
        Finding("requires-missing", "", "requires numpy<1; the package index has up to 2.4.0"),
        Finding("requires-missing", "", "requires gone, which the package index does not have"),
    ]


@pytest.mark.parametrize(
    ("status", "output", "versions"),
    [
        (0, "numpy (2.4.0)\nAvailable versions: 2.4.0, 1.26.0\n", ("2.4.0", "1.26.0")),
        (1, "ERROR: No matching distribution found for gone\n", ()),
    ],
)
def test_versions_are_read_from_what_pip_prints(status: int, output: str, versions: tuple[str, ...]) -> None:
    """A project that is not there is an answer too."""
    assert parse_versions(status, output, "numpy") == versions


@pytest.mark.parametrize(
    "output",
    ["NewConnectionError: refused\nERROR: No matching distribution found for numpy", "", "No module named pip"],
)
def test_index_that_does_not_answer_is_an_error(output: str) -> None:
    """No answer must not pass for the answer that there is nothing."""
    with pytest.raises(FetchError, match="cannot ask the package index for numpy"):
        parse_versions(1, output, "numpy")
