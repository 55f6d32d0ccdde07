# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a bundle is made of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pjrtwheel.bundle.plan import choose_builds, list_pins, parse_lock, read_locks
from pjrtwheel.errors import FetchError, UsageError
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.release.known import list_releases, load_release
from pjrtwheel.release.model import Release

HOST, ARM = PLATFORMS["linux_x86_64"], PLATFORMS["linux_aarch64"]


def test_all_backends_of_the_newest_release_that_has_each(root: Path) -> None:
    """Unless some are named; a backend that has no library for a platform is left out."""
    builds = choose_builds(root, [], [], [HOST, ARM], HOST)
    newest: dict[tuple[str, str], str] = {}
    for version in list_releases(root):
        release = load_release(root, version)
        for name in {key.split(".")[1] for key in release.pins if key.startswith("plugin.")}:
            newest |= {(name, platform): version for platform in release.platforms(name)}
    found = {(build.backend.name, build.platform.name): build.release.version for build in builds}
    assert found == {key: version for key, version in newest.items() if key[1] in {HOST.name, ARM.name}}


def test_named_releases_and_platforms_are_taken(root: Path, release: Release) -> None:
    """Each with each."""
    versions = list_releases(root)
    builds = choose_builds(root, ["cuda13"], versions, [HOST, ARM], HOST)
    expected = {f"{version} cuda13 {platform.name}" for version in versions for platform in (HOST, ARM)}
    assert set(map(str, builds)) == expected
    assert release.version in versions


def test_backend_without_inputs_is_refused(root: Path, release: Release) -> None:
    """If it was named, with what the package index said."""
    with pytest.raises(FetchError, match=r"plugin\.cpu\.linux_aarch64"):
        choose_builds(root, ["cpu"], [release.version], [ARM], HOST)
    with pytest.raises(UsageError):
        choose_builds(root, ["abacus"], [], [HOST], HOST)
    with pytest.raises(UsageError, match="no backend has a library"):
        choose_builds(root, [], [], [PLATFORMS["macos_arm64"]], HOST)


def test_pins_are_all_that_a_build_fetches(root: Path, release: Release) -> None:
    """For wheels of another platform: its files, and of the host those that run or give headers."""
    (build,) = choose_builds(root, ["cuda13"], [release.version], [ARM], HOST)
    keys = {pin.key for pin in list_pins([build], HOST)}
    first = f"bindings.{release.pythons(HOST.name)[0]}.{HOST.name}"
    mine = {key for key in release.pins if key.endswith(f".{ARM.name}") and key.startswith("bindings.")}
    mine |= {key for key in release.pins if key.endswith(f".cuda13.{ARM.name}")}
    mine |= {key for key in release.pins if re.fullmatch(rf"kernels\.cuda13\.\w+\.{ARM.name}", key)}
    tools = {f"tool.{name}.{HOST.name}" for name in build.backend.tools}
    assert keys == mine | tools | {first, f"compiler.{HOST.name}", "header.pjrt_c_api"}


def test_library_that_stays_in_its_own_wheel_is_no_input(root: Path) -> None:
    """Its wheel is installed for proofs, as any other requirement."""
    builds = choose_builds(root, ["tpu"], [], [HOST], HOST)
    assert not [pin.key for pin in list_pins(builds, HOST) if pin.key.startswith("plugin.")]


def test_every_line_of_the_locks_is_read(root: Path) -> None:
    """A requirement that the reader does not understand would be missing in every bundle."""
    paths = [root / "build/requirements.txt", root / "build/nox_requirements.txt", *root.glob("build/locks/*.txt")]
    for path in paths:
        text = path.read_text("utf-8")
        lines = [line for line in text.splitlines() if line[:1].isalnum()]
        assert [line.removesuffix(" \\") for line in lines] == list(parse_lock(text))
        assert sum(map(len, parse_lock(text).values())) == text.count("--hash=")
    assert len(read_locks(root)) > 150
