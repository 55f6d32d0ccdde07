# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a bundle cannot do for the package index."""

from __future__ import annotations

from pathlib import Path

import pytest

from pjrtwheel.bump import find_next
from pjrtwheel.errors import FetchError
from pjrtwheel.pin import pin_release


@pytest.mark.parametrize("command", [pin_release, find_next])
def test_a_bundle_does_not_say_which_releases_there_are(
    command: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it lacks would be recorded as absent."""
    monkeypatch.setenv("PJRTWHEEL_BUNDLE", str(tmp_path / "bundle"))
    arguments = (tmp_path, "1.2.3", tmp_path) if command is pin_release else (tmp_path, "1.2.3")
    with pytest.raises(FetchError) as caught:
        command(*arguments)  # type: ignore[operator]
    assert caught.value.what == "only the package index says which releases and files there are"
    assert list(tmp_path.iterdir()) == []
