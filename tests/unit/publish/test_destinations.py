# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of files of decisions that cannot be read: destinations, and what was withdrawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from pjrtwheel.errors import PinError
from pjrtwheel.publish.destinations import DESTINATIONS_FILE, load_destinations
from pjrtwheel.publish.yanked import read_yanked


def test_a_missing_or_damaged_file_is_explained_in_words(tmp_path: Path) -> None:
    """Not as Python has it."""
    with pytest.raises(PinError) as missing:
        load_destinations(tmp_path)
    assert str(missing.value) == f"there is no {DESTINATIONS_FILE} in {tmp_path}\nget it back from git"
    path = tmp_path / DESTINATIONS_FILE
    path.parent.mkdir()
    path.write_bytes(b"\xff")
    for read in (lambda: load_destinations(tmp_path), lambda: read_yanked(path)):
        with pytest.raises(PinError) as damaged:
            read()
        assert damaged.value.cause == "it is not UTF-8"
