# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a build needs, and what is said when it is not there."""

import dataclasses
from pathlib import Path

import pytest

from pjrtwheel.backend import Backend
from pjrtwheel.errors import FetchError, PjrtWheelError, UsageError
from pjrtwheel.platforms import PLATFORMS, Platform
from pjrtwheel.release.checks import check_inputs
from pjrtwheel.release.known import list_releases, load_release
from pjrtwheel.release.model import Absent, Release, XlaSource
from release_under_test import BACKENDS, ROOT

X86_64, AARCH64 = PLATFORMS["linux_x86_64"], PLATFORMS["linux_aarch64"]
VERSIONS = list_releases(ROOT)


@pytest.fixture
def release(release: Release) -> Release:
    """Return the release under test, with an XLA revision even where nobody knows it."""
    return dataclasses.replace(release, xla=XlaSource("c0ffee", "ab" * 32, "8.7.0", verified=True, origin="a test"))


@pytest.mark.parametrize(
    ("name", "key", "absent", "remedy"),
    [
        ("cuda13", "plugin.cuda13.linux_x86_64", False, "pin it with: ./noxw pin {}"),
        (
            "cuda13",
            "plugin.cuda13.linux_x86_64",
            True,
            "take another release, or a library with --xla source or --xla PATH",
        ),
        ("tpu", "plugin.tpu.linux_x86_64", True, ""),
        ("cuda13", "tool.cuobjdump.linux_x86_64", True, ""),
    ],
)
def test_the_ways_out_are_those_of_the_backend(
    release: Release, name: str, key: str, absent: bool, remedy: str
) -> None:
    """What the index does not have cannot be pinned; not every source is open, nor has every wheel a library in it."""
    pins = {known: pin for known, pin in release.pins.items() if known != key}
    without = (Absent(key, "project", "1", "the index has none"),) if absent else ()
    with pytest.raises(FetchError) as caught:
        check_inputs(
            dataclasses.replace(release, pins=pins, absent=without), BACKENDS[name], X86_64, "prebuilt", X86_64
        )
    assert caught.value.remedy == remedy.format(release.version)


@pytest.mark.parametrize(
    ("name", "missing", "platform", "provider", "host", "error", "named"),
    [
        ("cpu", "compiler.linux_aarch64", X86_64, "prebuilt", AARCH64, FetchError, "compiler.linux_aarch64"),
        ("cuda12", "tool.cuobjdump.linux_x86_64", AARCH64, "file", X86_64, FetchError, "tool.cuobjdump.linux_x86_64"),
        (None, "bindings.", X86_64, "prebuilt", X86_64, FetchError, "linux_x86_64"),
        ("rocm7", "", AARCH64, "source", X86_64, UsageError, "linux_aarch64"),
        ("tpu", "", X86_64, "source", X86_64, UsageError, "from source"),
        ("tpu", "", X86_64, "file", X86_64, UsageError, "--xla"),
        ("cpu", "xla", X86_64, "source", X86_64, UsageError, "from source"),
    ],
)
def test_what_a_build_lacks_is_said_before_it_is_started(
    release: Release,
    name: str | None,
    missing: str,
    platform: Platform,
    provider: str,
    host: Platform,
    error: type[PjrtWheelError],
    named: str,
) -> None:
    """A pin of the host or of the platform, a platform that a backend has no wheels for, a library that is not ours."""
    pins = {key: pin for key, pin in release.pins.items() if not missing or not key.startswith(missing)}
    lacking = dataclasses.replace(release, pins=pins, xla=None if missing == "xla" else release.xla)
    with pytest.raises(error) as caught:
        check_inputs(lacking, BACKENDS[name] if name else None, platform, provider, host)
    assert named in caught.value.what


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=list(BACKENDS))
@pytest.mark.parametrize("version", VERSIONS)
def test_releases_of_the_repository_have_what_every_build_needs(root: Path, version: str, backend: Backend) -> None:
    """Every backend can be built for each platform that has its library; of any other, the file says why not."""
    release = load_release(root, version)
    for platform in backend.tags:
        if platform in release.platforms(backend.name):
            check_inputs(release, backend, PLATFORMS[platform], "prebuilt", X86_64)
        else:
            assert release.find_absent(f"plugin.{backend.name}.{platform}") is not None
