# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Release file, wheels and tag say the same, in every direction."""

import itertools
from pathlib import Path

import pytest

from pjrtwheel.errors import WheelError
from pjrtwheel.release.model import Release
from pjrtwheel.sets.tags import tag_of, tag_of_wheel, tag_of_wheels
from pjrtwheel.wheel.names import WheelName, parse_name
from release_folders import PLUGIN_TAG, SELECTOR_WHEEL, WHEELS


@pytest.mark.parametrize(
    ("names", "tag"),
    [
        (WHEELS, "v1.2.3+split.1"),
        ((*WHEELS, SELECTOR_WHEEL), "v1.2.3+split.1"),
        ((SELECTOR_WHEEL,), "select-v0.1.0"),
        ((WHEELS[2],), "v1.2.3+split.1"),
        (("jaxlib-1.2.3-1-cp312-cp312-linux_x86_64.whl", f"jaxlib_bead-1.2.3-{PLUGIN_TAG}.whl"), "v1.2.3"),
        (("jaxlib-1.2.3-2-cp312-cp312-linux_x86_64.whl", f"jaxlib_bead-1.2.3-{PLUGIN_TAG}.whl"), "v1.2.3+2"),
    ],
)
def test_a_release_has_the_tag_of_its_wheels(names: tuple[str, ...], tag: str) -> None:
    """Whatever the name of the folder."""
    assert {tag_of_wheels(map(parse_name, order)) for order in itertools.permutations(names)} == {tag}


@pytest.mark.parametrize("names", [(), (*WHEELS, f"jaxlib_bead-1.2.2-{PLUGIN_TAG}.whl")])
def test_several_releases_or_none_have_no_tag(names: tuple[str, ...]) -> None:
    """A folder with them is refused."""
    with pytest.raises(WheelError, match="the folder has wheels of"):
        tag_of_wheels(map(parse_name, names))


@pytest.mark.parametrize(
    ("label", "build", "tag"),
    [
        ("split", 1, "v1.2.3.1+split.1"),
        ("split", 2, "v1.2.3.1+split.2"),
        ("", 1, "v1.2.3.1"),
        ("", 2, "v1.2.3.1+2"),
    ],
)
def test_release_file_and_wheel_agree(label: str, build: int, tag: str, tmp_path: Path) -> None:
    """The tag of the release is that of its `jaxlib`."""
    release = Release({}, "00", tmp_path, version="1.2.3.1", build=build, label=label)
    wheel = WheelName("jaxlib", release.set_version, release.build_tag, "cp312-cp312-linux_x86_64")
    assert (tag_of(release), tag_of_wheel(wheel)) == (tag, tag)
