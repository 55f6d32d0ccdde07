# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Release file and wheels say the same tag."""

from pathlib import Path

import pytest

from pjrtwheel.release.model import Release
from pjrtwheel.sets.tags import tag_of, tag_of_wheel
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
