# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a build needs, and what is said when it is not there."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from pjrtwheel.backend import Backend, find_backend, load_backends
from pjrtwheel.errors import FetchError, PjrtWheelError, UsageError
from pjrtwheel.platforms import PLATFORMS, Platform
from pjrtwheel.release.checks import check_inputs, list_bindings_alone, list_prebuilt, required_pins
from pjrtwheel.release.known import list_releases, load_release
from pjrtwheel.release.model import Override, Release, XlaSource

X86_64, AARCH64 = PLATFORMS["linux_x86_64"], PLATFORMS["linux_aarch64"]
ROOT = Path(__file__).resolve().parents[3]
BACKENDS = load_backends(ROOT)
VERSIONS = list_releases(ROOT)


@pytest.fixture
def release(release: Release) -> Release:
    """Return the release under test, with an XLA revision even where nobody knows it."""
    return dataclasses.replace(release, xla=XlaSource("c0ffee", "ab" * 32, "8.7.0", verified=True, origin="a test"))


@pytest.fixture
def cpu(root: Path) -> Backend:
    """Return the CPU backend."""
    return find_backend(root, "cpu")


PINNING = "pin it with: ./noxw pin {} --missing"
SOURCE = "build it from source with --xla source"
LIBRARY = "give a library with --xla PATH"
OVERRIDE = "take a version's library by an override in releases/overrides.toml and pin again"
PIN = """
[[pin]]
key = "{key}"
project = "p"
version = "1"
filename = "p-1-py3-none-any.whl"
sha256 = "abababababababababababababababababababababababababababababababab"
size = 1
"""
ALWAYS = PIN.format(key="compiler.linux_x86_64")


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


def test_what_the_index_does_not_have_cannot_be_pinned(release: Release, cpu: Backend) -> None:
    """On aarch64 there is no library for the CPU."""
    with pytest.raises(FetchError) as caught:
        check_inputs(dataclasses.replace(release, overrides=()), cpu, AARCH64, "prebuilt", X86_64)
    assert caught.value.cause.startswith("the index has ")
    assert caught.value.remedy == f"{SOURCE}, or {LIBRARY}, or {OVERRIDE}"


def test_another_release_that_has_it_is_named(release: Release, cpu: Backend, tmp_path: Path) -> None:
    """The newest one whose file can be read, for what the index will not get; an override that is there is no way."""
    key, folder = "plugin.cpu.linux_aarch64", tmp_path / "releases"
    folder.mkdir()
    pin = PIN.format(key=key)
    for version, text in {"1.9": pin, "1.10": pin, "1.11": "", "1.12": "not TOML"}.items():
        (folder / f"{version}.toml").write_text(f'schema = 2\nrelease = "{version}"\nbuild = 1\n{text or ALWAYS}')
    override = Override("cpu", "1.10", "why")
    here = dataclasses.replace(release, path=folder / "2.toml", xla=None, overrides=(override,))
    with pytest.raises(FetchError) as caught:
        check_inputs(here, cpu, AARCH64, "prebuilt", X86_64)
    assert caught.value.remedy == (
        f"build 1.10 with --release 1.10, or {SOURCE}, once releases/xla.toml has XLA's commit, or {LIBRARY}"
    )


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


def test_library_from_elsewhere_needs_no_pin(release: Release, cpu: Backend) -> None:
    """The same platform can be built from source or from a library of one's own."""
    for provider in ("source", "file"):
        check_inputs(release, cpu, AARCH64, provider, X86_64)


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


def test_pins_that_a_wheel_is_made_from(root: Path, release: Release) -> None:
    """A library from elsewhere needs no pin of its own; kernels and tools are taken all the same."""
    backend = find_backend(root, "cuda12")
    rest = (
        "compiler.linux_x86_64",
        *(f"kernels.cuda12.{python}.linux_aarch64" for python in release.pythons("linux_aarch64")),
        "tool.cuobjdump.linux_x86_64",
    )
    assert required_pins(release, backend, AARCH64, "file", X86_64) == rest
    wanted = required_pins(release, backend, AARCH64, "prebuilt", X86_64)
    assert wanted == (rest[0], "plugin.cuda12.linux_aarch64", *rest[1:])


@pytest.mark.parametrize("version", VERSIONS)
def test_every_wheel_that_the_index_has_inputs_for_is_listed(root: Path, version: str) -> None:
    """In the order of the backends, for both platforms what can be built for both; the CPU's other one takes XLA."""
    release = load_release(root, version)
    chosen = {name: BACKENDS[name] for name in ("cpu", "cuda12", "tpu")}
    places = [(name, platform) for name in chosen for platform in ("linux_x86_64", "linux_aarch64")]
    pairs = tuple((name, platform) for name, platform in places if f"plugin.{name}.{platform}" in release.pins)
    assert {name for name, _ in pairs} == set(chosen)
    assert list_prebuilt(release, chosen.values(), X86_64) == pairs


def test_a_platform_with_a_backend_needs_no_build_of_its_own(release: Release) -> None:
    """A backend's build makes the bindings as well, and a platform without bindings has nothing to build."""
    pairs = [("a", "macos_arm64"), ("a", "linux_x86_64"), ("b", "linux_x86_64")]
    assert list_bindings_alone(release, pairs) == ("linux_aarch64", "windows_x86_64")


def test_a_wheel_that_lacks_a_pin_stops_the_listing(release: Release) -> None:
    """It is not left out in silence."""
    pins = {key: pin for key, pin in release.pins.items() if key != "tool.cuobjdump.linux_x86_64"}
    with pytest.raises(FetchError, match=r"pins no 'tool\.cuobjdump\.linux_x86_64'"):
        list_prebuilt(dataclasses.replace(release, pins=pins), [BACKENDS["cuda12"]], X86_64)
