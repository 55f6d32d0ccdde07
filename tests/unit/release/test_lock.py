# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The lock that ties wheels together."""

import dataclasses
from collections.abc import Collection
from pathlib import Path

import pytest

from pjrtwheel.release.model import Release
from pjrtwheel.release.wheels import make_lock


@pytest.mark.parametrize(
    ("change", "provider"),
    [({"pins": {}}, "prebuilt"), ({"build": 99}, "prebuilt"), ({}, "source"), ({"path": Path("x")}, "prebuilt")],
    ids=["other pins", "other build tag", "other provider", "other checkout"],
)
def test_each_input_changes_the_lock(release: Release, change: dict[str, object], provider: str) -> None:
    """Wheels of different inputs never share a lock id; the path of the checkout is no input."""
    other = make_lock(dataclasses.replace(release, **change), provider)  # type: ignore[arg-type]
    assert (other == make_lock(release, "prebuilt")) == ("path" in change)
    assert (other.lock_id == make_lock(release, "prebuilt").lock_id) == ("path" in change)


@pytest.mark.parametrize("kinds", [("bindings", "kernels"), ("bindings",), ("plugin",), ("tool",), ("compiler",)])
def test_files_for_one_python_are_no_part_of_it(release: Release, kinds: Collection[str]) -> None:
    """Nor that they are absent: a Python can be added, and all wheels that are there stay as they are."""
    pins = {key: pin for key, pin in release.pins.items() if key.split(".")[0] not in kinds}
    absent = tuple(entry for entry in release.absent if entry.key.split(".")[0] not in kinds)
    fewer = make_lock(dataclasses.replace(release, pins=pins, absent=absent, digest="0"), "prebuilt")
    assert pins != release.pins
    assert (fewer == make_lock(release, "prebuilt")) == ("bindings" in kinds)
