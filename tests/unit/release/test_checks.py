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
from pjrtwheel.release.model import Override, Release, XlaSource
from release_under_test import BACKENDS, ROOT

CPU = BACKENDS["cpu"]

X86_64, AARCH64 = PLATFORMS["linux_x86_64"], PLATFORMS["linux_aarch64"]
VERSIONS = list_releases(ROOT)


@pytest.fixture
def release(release: Release) -> Release:
    """Return the release under test, with an XLA revision even where nobody knows it."""
    return dataclasses.replace(release, xla=XlaSource("c0ffee", "ab" * 32, "8.7.0", verified=True, origin="a test"))


PINNING = "pin it with: ./noxw pin {}"
SOURCE = "build it from source with --xla source"
LIBRARY = "give a library with --xla PATH"
OVERRIDE = "take a version's library by an override in releases/overrides.toml and pin again"


@pytest.mark.parametrize(
    ("name", "key", "remedies"),
    [
        ("cuda13", "plugin.cuda13.linux_x86_64", [PINNING, SOURCE, LIBRARY]),
        ("tpu", "plugin.tpu.linux_x86_64", [PINNING]),
        ("abacus", "plugin.abacus.linux_x86_64", [PINNING, LIBRARY]),
    ],
)
def test_the_ways_out_are_those_of_the_backend(release: Release, name: str, key: str, remedies: list[str]) -> None:
    """The index has a file of a backend that is new; not every source is open, nor has every wheel a library in it."""
    abacus = dataclasses.replace(BACKENDS["cpu"], name="abacus", source=None)
    backend = {**BACKENDS, "abacus": abacus}[name]
    pins = {known: pin for known, pin in release.pins.items() if known != key}
    with pytest.raises(FetchError) as caught:
        check_inputs(dataclasses.replace(release, pins=pins), backend, X86_64, "prebuilt", X86_64)
    assert caught.value.remedy == ", or ".join(remedies).format(release.version)


def test_what_the_index_does_not_have_cannot_be_pinned(release: Release) -> None:
    """On aarch64 there is no library for the CPU."""
    with pytest.raises(FetchError) as caught:
        check_inputs(dataclasses.replace(release, overrides=()), CPU, AARCH64, "prebuilt", X86_64)
    assert caught.value.cause.startswith("the index has ")
    assert caught.value.remedy == f"{SOURCE}, or {LIBRARY}, or {OVERRIDE}"


def test_an_override_that_is_there_is_no_way(release: Release) -> None:
    """For what the index will not get."""
    here = dataclasses.replace(release, xla=None, overrides=(Override("cpu", "1.10", "why"),))
    with pytest.raises(FetchError) as caught:
        check_inputs(here, CPU, AARCH64, "prebuilt", X86_64)
    assert caught.value.remedy == f"{SOURCE}, once releases/xla.toml has XLA's commit, or {LIBRARY}"


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
