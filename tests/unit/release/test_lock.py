# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The lock that ties wheels together."""

import dataclasses
from pathlib import Path

import pytest

from pjrtwheel.release.model import Release
from pjrtwheel.release.wheels import make_lock


@pytest.mark.parametrize(
    ("change", "provider"),
    [({"digest": "0"}, "prebuilt"), ({"build": 99}, "prebuilt"), ({}, "source"), ({"path": Path("x")}, "prebuilt")],
    ids=["other pins", "other build tag", "other provider", "other checkout"],
)
def test_each_input_changes_the_lock(release: Release, change: dict[str, object], provider: str) -> None:
    """Wheels of different inputs never share a lock id; the path of the checkout is no input."""
    other = make_lock(dataclasses.replace(release, **change), provider)  # type: ignore[arg-type]
    assert (other == make_lock(release, "prebuilt")) == ("path" in change)
    assert (other.lock_id == make_lock(release, "prebuilt").lock_id) == ("path" in change)
