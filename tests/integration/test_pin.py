# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Pinning a release from a real, if small, package index: a folder of wheels that pip looks into."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

import abacus_backend
from abacus_backend import FOLLOWING_UPSTREAM, INPUTS, add_aarch64
from folders import write_files
from package_index import COMMIT, make_index, put_wheel
from pjrtwheel.errors import PinError, UsageError
from pjrtwheel.pin import pin_release
from pjrtwheel.release.model import Absent, Pin, Release

pytestmark = pytest.mark.integration

BACKEND = abacus_backend.BACKEND + FOLLOWING_UPSTREAM + "same_major = true\n"
BEADS = 'beads>=5.1; extra == "with-beads"'
OVERRIDE = '["1.2.3".abacus]\nversion = "1.2.2"\nreason = "its library of 1.2.3 is late"\n'
JAX = "jax-1.2.3-py3-none-any.whl"
FIRST = "jaxlib-1.2.3-cp312-cp312-manylinux_2_27_x86_64.whl"
SECOND = "jaxlib-1.2.3-cp314-cp314t-manylinux_2_27_x86_64.whl"
LIBRARY = "abacus_pjrt-1.2.3-py3-none-manylinux_2_27_x86_64.whl"
KERNELS = "abacus_plugin-1.2.3-cp312-cp312-manylinux_2_27_x86_64.whl"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with one backend, in a path with a space and a letter beyond ASCII."""
    files = {"releases/inputs.toml": INPUTS.replace(', "linux_aarch64"', ""), "plugins/abacus/backend.toml": BACKEND}
    return write_files(tmp_path / "ein Dépôt", files)


@pytest.fixture
def pin(repository: Path, tmp_path: Path) -> Callable[..., Release]:
    """Return the command's function, for this repository and a cache of its own."""
    return lambda version="1.2.3", **options: pin_release(repository, version, tmp_path / "cache", **options)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that is the machine's only package index; it has a release of JAX."""
    folder = make_index(tmp_path / "index", monkeypatch)
    for name in (JAX, FIRST, SECOND):
        put_wheel(folder, name)
    return folder


def test_everything_that_the_index_has_is_pinned(pin: Callable[..., Release], index: Path, tmp_path: Path) -> None:
    """Nothing is typed: Pythons, digests, commits and requirements come from the index, and the rest is absent."""
    put_wheel(index, LIBRARY)
    put_wheel(index, KERNELS, requires=[BEADS], commit=COMMIT[::-1])
    release = pin(build=7)
    keys = {
        "bindings.cp312.linux_x86_64": FIRST,
        "bindings.cp314t.linux_x86_64": SECOND,
        "kernels.abacus.cp312.linux_x86_64": KERNELS,
        "plugin.abacus.linux_x86_64": LIBRARY,
    }
    assert release.pins == {
        key: Pin(
            key,
            name.split("-")[0].replace("_", "-"),
            "1.2.3",
            name,
            hashlib.sha256((index / name).read_bytes()).hexdigest(),
            (index / name).stat().st_size,
        )
        for key, name in keys.items()
    }
    cause = "the package index has abacus-plugin 1.2.3, but not for cp314t on linux_x86_64"
    assert release.absent == (Absent("kernels.abacus.cp314t.linux_x86_64", "abacus-plugin", "1.2.3", cause),)
    assert release.commits == {"abacus-pjrt": COMMIT, "abacus-plugin": COMMIT[::-1], "jax": COMMIT, "jaxlib": COMMIT}
    assert release.extras == {"abacus": {"with-beads": ("beads>=5.1,<6",)}}
    assert (release.build, release.xla) == (7, None)
    # Only one wheel of each project was needed to say so.
    kept = {path.name for path in (tmp_path / "cache/wheels").rglob("*.whl")}
    assert kept == {JAX, FIRST, LIBRARY, KERNELS}


def test_pinning_again_changes_nothing(pin: Callable[..., Release], index: Path) -> None:
    """The build tag is kept and the file stays byte for byte the same; later versions on the index do not matter."""
    first = pin(build=7)
    text = first.path.read_bytes()
    put_wheel(index, LIBRARY.replace("1.2.3", "1.2.4"))
    assert pin() == first
    assert first.path.read_bytes() == text


def test_absence_is_an_answer(pin: Callable[..., Release], index: Path) -> None:
    """A backend without a library stops nobody else; the index's word on it is recorded."""
    put_wheel(index, LIBRARY.replace("1.2.3", "1.2.2"))
    release = pin()
    assert release.platforms("abacus") == ()
    cause = "the package index has no abacus-pjrt 1.2.3; the newest before it is 1.2.2"
    assert release.absent == (Absent("plugin.abacus.linux_x86_64", "abacus-pjrt", "1.2.3", cause),)
    assert release.extras == {}


def test_another_version_is_taken_by_decision_only(pin: Callable[..., Release], index: Path, repository: Path) -> None:
    """The decision is in the pins file, with its reason."""
    for name in (LIBRARY, KERNELS):
        put_wheel(index, name.replace("1.2.3", "1.2.2"), requires=[BEADS])
    (repository / "releases/overrides.toml").write_text(OVERRIDE, "utf-8")
    release = pin()
    assert {key: pin.version for key, pin in release.pins.items() if "abacus" in key} == {
        "kernels.abacus.cp312.linux_x86_64": "1.2.2",
        "plugin.abacus.linux_x86_64": "1.2.2",
    }
    override = release.override("abacus")
    assert override is not None
    assert (override.version, override.reason) == ("1.2.2", "its library of 1.2.3 is late")


def test_what_is_pinned_already_is_not_asked_for_again(pin: Callable[..., Release], index: Path) -> None:
    """Only the library that was missing is looked for; the rest of the index may be gone."""
    before = pin()
    for name in (JAX, FIRST, SECOND):
        (index / name).unlink()
    put_wheel(index, LIBRARY)
    put_wheel(index, KERNELS, requires=[BEADS])
    after = pin()
    added = ["kernels.abacus.cp312.linux_x86_64", "plugin.abacus.linux_x86_64"]
    assert list(after.pins) == sorted([*before.pins, *added])
    assert {key: after.pins[key] for key in before.pins} == before.pins
    assert after.commits.keys() == before.commits.keys() | {"abacus-pjrt", "abacus-plugin"}


def test_a_file_that_came_later_is_found_next_to_what_is_pinned(
    pin: Callable[..., Release], index: Path, repository: Path
) -> None:
    """For another platform or Python of a project that is pinned; what is pinned stays."""
    backend = repository / "plugins/abacus/backend.toml"
    backend.write_text(add_aarch64(BACKEND), "utf-8")
    put_wheel(index, LIBRARY)
    before = pin()
    assert [entry.key for entry in before.absent if "plugin" in entry.key] == ["plugin.abacus.linux_aarch64"]
    put_wheel(index, LIBRARY.replace("x86_64", "aarch64"))
    put_wheel(index, FIRST.replace("cp312", "cp315"))
    after = pin()
    added = {"plugin.abacus.linux_aarch64", "bindings.cp315.linux_x86_64"}
    assert after.pins.keys() == before.pins.keys() | added
    assert {key: after.pins[key] for key in before.pins} == before.pins
    assert not added & {entry.key for entry in after.absent}


def test_an_unknown_release_is_said_before_all_else(pin: Callable[..., Release], index: Path, repository: Path) -> None:
    """A slip in the version is no reason to repair a backend first; the error says which versions there are."""
    (repository / "plugins/abacus/backend.toml").write_text("what = 1\n", "utf-8")
    with pytest.raises(PinError) as caught:
        pin("9.9.9")
    assert caught.value.cause == "the newest it has: 1.2.3"
    for version in ("1.2.3", "newest"):
        with pytest.raises(UsageError):
            pin(version)
    assert not list((repository / "releases").glob("*.*.*.toml"))
    assert index.is_dir()


def test_release_without_a_file_for_any_platform(pin: Callable[..., Release], index: Path, repository: Path) -> None:
    """There is a jax, and no jaxlib to go with it."""
    for name in (FIRST, SECOND):
        (index / name).unlink()
    put_wheel(index, FIRST.replace("manylinux_2_27_x86_64", "plan9_sparc"))
    with pytest.raises(PinError, match="the package index has no jaxlib of this release for any platform"):
        pin()
    assert not (repository / "releases/1.2.3.toml").exists()
