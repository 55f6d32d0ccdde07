# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is read from upstream's wheels."""

from pathlib import Path

import pytest

from pjrtwheel.backend import UpstreamExtra
from pjrtwheel.errors import PinError
from pjrtwheel.pin.upstream import UpstreamWheel, read_upstream, take_over
from release_under_test import ROOT
from small_wheels import build_wheel, damage_stream

METADATA = (ROOT / "tests/data/abacus_plugin.METADATA").read_text("utf-8")
NAME, INFO = "abacus_plugin-1.2-py3-none-any.whl", "abacus_plugin-1.2.dist-info/METADATA"
COMMIT = "dc4af684446e65ee98eee8090e1ff6f8211473fb"


def test_metadata_and_commit_are_read(tmp_path: Path) -> None:
    """The version.py nearest to the top is JAX's."""
    inner = f"_git_hash: str = '{COMMIT[::-1]}'\n".encode()
    outer = f"old = 1\n_git_hash: str = '{COMMIT}'\nx = \"_git_hash: str = 'f'\"\n".encode()
    members = {"abacus_plugin/inner/version.py": inner, "abacus_plugin/version.py": outer, INFO: METADATA.encode()}
    wheel = build_wheel(tmp_path, members, name=NAME)
    assert read_upstream(wheel) == UpstreamWheel(wheel.name, METADATA, COMMIT)
    assert read_upstream(build_wheel(tmp_path, {INFO: METADATA.encode()}, name=NAME)).commit == ""


def test_what_is_no_wheel_is_refused(tmp_path: Path) -> None:
    """An error page that is served as a file, and compressed bytes that are damaged."""
    wheel = build_wheel(tmp_path, {INFO: METADATA.encode()}, name=NAME)
    with pytest.raises(PinError):
        read_upstream(damage_stream(wheel, INFO))
    wheel.write_text("<html>")
    with pytest.raises(PinError):
        read_upstream(wheel)


def test_requirements_of_an_extra() -> None:
    """Those that hold on Linux, without markers, in order of name; not the wheel's own, nor the description."""
    wheel = UpstreamWheel("a.whl", METADATA, "")
    assert [str(entry) for entry in wheel.requires("with_rods")] == ["beads>=5.6", "brass", "Steel_Rods<10.0,>=9.1.2"]
    with pytest.raises(PinError, match=r"a\.whl has no extra 'without'"):
        wheel.requires("without")


def test_version_that_an_extra_names() -> None:
    """A series stays one."""
    wheel = UpstreamWheel("a.whl", METADATA, "")
    assert wheel.find_version("tools", "Counter") == "3.1.*"
    with pytest.raises(PinError, match=r"the extra 'with-rods' of a\.whl does not name one version of beads"):
        wheel.find_version("with-rods", "beads")


def test_our_extra_follows_upstreams() -> None:
    """Floors are upstream's; a ceiling keeps the major version, where upstream has none. None at all is refused."""
    wheel = UpstreamWheel("a.whl", METADATA, "")
    required = wheel.requires("with-rods")
    table = UpstreamExtra("abacus-plugin[with-rods]", same_major=True, bounds={"brass": ">=2,<3"})
    assert take_over(table, required) == ("beads>=5.6,<6", "brass>=2,<3", "steel-rods>=9.1.2,<10.0")
    exact = UpstreamExtra("abacus-plugin[tools]", same_major=True)
    assert take_over(exact, wheel.requires("tools")) == ("counter==3.1.*",)
    with pytest.raises(PinError) as caught:
        take_over(UpstreamExtra("abacus-plugin[with-rods]"), required)
    assert "abacus-plugin[with-rods] requires brass" in caught.value.what
    assert 'bounds = { brass = ">=...,<..." }' in caught.value.remedy
