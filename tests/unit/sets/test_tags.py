# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Release file and wheels say the same tag."""

from pathlib import Path

import pytest

from pjrtwheel.errors import UsageError
from pjrtwheel.release.known import newest_release
from pjrtwheel.release.model import Release
from pjrtwheel.sets.tags import find_tagged, tag_of, tag_of_wheel
from pjrtwheel.wheel.names import WheelName


@pytest.mark.parametrize(
    ("label", "build", "tag"),
    [("split", 1, "v1.2.3.1+split.1"), ("split", 2, "v1.2.3.1+split.2"), ("", 1, "v1.2.3.1"), ("", 2, "v1.2.3.1+2")],
)
def test_release_file_and_wheel_agree(label: str, build: int, tag: str, tmp_path: Path) -> None:
    """The tag of the release is that of its `jaxlib`."""
    release = Release({}, "00", tmp_path, version="1.2.3.1", build=build, label=label)
    wheel = WheelName("jaxlib", release.set_version, release.build_tag, "cp312-cp312-linux_x86_64")
    assert (tag_of(release), tag_of_wheel(wheel)) == (tag, tag)


@pytest.mark.parametrize("label", ["own", ".1", "../own.1", "O.1"])
def test_what_is_no_label_gives_no_tag(root: Path, label: str) -> None:
    """The versions are those of a folder that anybody may have filled."""
    version = newest_release(root)
    for tag in (f"v{version}+{label}", f"v{version}"):
        with pytest.raises(UsageError):
            find_tagged(root, tag, [f"{version}+{label}"])
