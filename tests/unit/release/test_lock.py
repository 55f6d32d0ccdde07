# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The lock that ties wheels together."""

import dataclasses
from pathlib import Path

import pytest

from pjrtwheel.release.model import Release
from pjrtwheel.release.wheels import make_lock


def test_same_inputs_give_the_same_lock(release: Release) -> None:
    """The path of the checkout is no input."""
    assert make_lock(release, "prebuilt") == make_lock(dataclasses.replace(release, path=Path("x.toml")), "prebuilt")


@pytest.mark.parametrize(
    ("change", "provider"),
    [({"digest": "0"}, "prebuilt"), ({"build": 99}, "prebuilt"), ({}, "source")],
    ids=["other pins", "other build tag", "other provider"],
)
def test_each_input_changes_the_lock(release: Release, change: dict[str, object], provider: str) -> None:
    """Wheels of different inputs never share a lock id."""
    other = make_lock(dataclasses.replace(release, **change), provider)  # type: ignore[arg-type]
    assert other.lock_id != make_lock(release, "prebuilt").lock_id
