# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is demanded of a bundle, and what it cannot do for the package index."""

from __future__ import annotations

from pathlib import Path

import pytest

from pjrtwheel.bump import find_next
from pjrtwheel.errors import FetchError
from pjrtwheel.fetch.bundled import check_bundled
from pjrtwheel.pin import pin_release
from pjrtwheel.release.model import Pin


def test_a_bundle_must_have_every_input(tmp_path: Path) -> None:
    """Whatever the cache has: the next machine has another one."""
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "a.whl").touch()
    pins = [Pin(f"plugin.{name}", name, "1", f"{name}.whl", "0" * 64, 1) for name in ("a", "b", "c")]
    environ = {"PJRTWHEEL_BUNDLE": str(tmp_path)}
    check_bundled(pins, {})
    check_bundled(pins[:1], environ)
    with pytest.raises(FetchError) as caught:
        check_bundled(pins, environ)
    assert caught.value.what == f"the bundle {tmp_path} has no b.whl and 1 other file"
    assert caught.value.cause.startswith("pinned as plugin.b; ")


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
