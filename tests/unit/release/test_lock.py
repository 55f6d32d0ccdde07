# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The lock that ties wheels together."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from pjrtwheel.release.model import Release
from pjrtwheel.release.wheels import ReleaseLock, make_lock


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


def test_document_holds_every_field() -> None:
    """The document in the wheels is stable text with all that a loader compares or prints."""
    text = ReleaseLock("1.2.3", "1.2.3+split.4", 4, "prebuilt", "ab" * 16).to_json()
    assert json.loads(text) == {
        "schema": 2,
        "release": "1.2.3",
        "version": "1.2.3+split.4",
        "build": 4,
        "provider": "prebuilt",
        "lock_id": "ab" * 16,
    }
    assert text.endswith("}\n")
