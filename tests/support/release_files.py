# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Release files and locks of an invented JAX, which nothing is built from."""

from collections.abc import Mapping
from pathlib import Path

from pjrtwheel.release.wheels import ReleaseLock
from pjrtwheel.wheel.names import parse_name

_HEAD = 'schema = 2\nrelease = "{version}"\nbuild = {build}\nlabel = "{label}"\n'
_PIN = """
[[pin]]
key = "{key}"
project = "{name.distribution}"
version = "{name.version}"
filename = "{filename}"
sha256 = "{digest}"
size = 10
"""


def lock_of(version: str, lock_id: str = "ab" * 16) -> ReleaseLock:
    """Return the lock of a set."""
    release, _, label = version.partition("+")
    return ReleaseLock(release, version, int(label.rpartition(".")[2] or 1), "prebuilt", lock_id)


def write_release_file(
    root: Path, pins: Mapping[str, str], *, version: str = "1.2.3", label: str = "split", build: int = 1
) -> Path:
    """Write the release file of a version into a repository; `pins` has the file name of the wheel at each key."""
    text = _HEAD.format(version=version, build=build, label=label)
    text += "pin = []\n" if not pins else ""
    for number, (key, filename) in enumerate(pins.items()):
        text += _PIN.format(key=key, name=parse_name(filename), filename=filename, digest=f"{number:x}" * 64)
    path = root / "releases" / f"{version}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path
