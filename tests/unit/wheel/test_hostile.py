# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Whoever reads a wheel that comes from elsewhere refuses a hostile one."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pjrtwheel.environment.venv import needs_of
from pjrtwheel.errors import PjrtWheelError
from pjrtwheel.fetch.unpack import unpack_wheel
from pjrtwheel.files import hash_file
from pjrtwheel.pin.upstream import read_upstream
from pjrtwheel.products.index.projects import read_release
from pjrtwheel.record.entries import RELEASE_FILENAME, format_entries
from pjrtwheel.release.wheels import LOCK_FILENAME, ReleaseLock
from pjrtwheel.sets.published import read_lock
from pjrtwheel.verify.contents import read_contents
from release_entries import entry_of

NAME = "jaxlib-1.2+split.1-cp312-cp312-manylinux_2_27_x86_64.whl"
LOCK = ReleaseLock("1.2", "1.2+split.1", 1, "prebuilt", "ab" * 16)
FILES = {f"jaxlib/{LOCK_FILENAME}": LOCK.to_json().encode()}
FILES["jaxlib/__init__.py"] = b""


def record(wheel: Path) -> None:
    """Write the `release.json` of a wheel's folder."""
    entry = entry_of(NAME, sha256=hash_file(wheel), version=LOCK.version)
    (wheel.parent / RELEASE_FILENAME).write_text(format_entries({NAME: entry}), "utf-8")


def index(wheel: Path) -> None:
    """Read the wheel for a package index of its folder."""
    read_release(wheel.parent)


def fetch(wheel: Path) -> None:
    """Unpack one member of a pinned wheel."""
    unpack_wheel(wheel, wheel.parent / "fetched", ["jaxlib/*.py"])


def verify(wheel: Path) -> None:
    """Read the wheel for the checks."""
    read_contents(wheel, wheel.parent)


@pytest.mark.parametrize("read", [read_lock, read_upstream, needs_of, index, fetch, verify])
def test_a_hostile_wheel_is_refused(make_wheel: Callable[..., Path], read: Callable[[Path], object]) -> None:
    """It is read when its directory is as it should be, and not with a member that leads elsewhere."""
    wheel = make_wheel(FILES, name=NAME)
    record(wheel)
    read(wheel)
    hostile = make_wheel(FILES | {"../elsewhere": b""}, name=NAME)
    record(hostile)
    with pytest.raises(PjrtWheelError) as caught:
        read(hostile)
    assert "'../elsewhere' is no path inside a wheel" in str(caught.value)
