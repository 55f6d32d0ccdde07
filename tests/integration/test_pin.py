# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Pinning a release from a real, if small, package index: a folder of wheels that pip looks into."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from pjrtwheel.errors import PinError
from pjrtwheel.pin import pin_release
from pjrtwheel.release.model import Pin

pytestmark = pytest.mark.integration

XLA = """
["1.2.3"]
commit = "c0ffee"
sha256 = "abababababababababababababababababababababababababababababababab"
bazel = "7.7.0"
verified = true
origin = "JAX's own tree"
"""
INPUTS = """
[[input]]
key = "bindings.{python}.{platform}"
project = "bindings"
version = "{release}"
pythons = ["cp312", "cp314"]
platforms = ["linux_x86_64"]
"""
FIRST = "bindings-1.2.3-cp312-cp312-manylinux_2_27_x86_64.whl"
SECOND = "bindings-1.2.3-cp314-cp314-manylinux_2_27_x86_64.whl"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository without backends, in a path with a space and a letter beyond ASCII."""
    releases = tmp_path / "ein Dépôt" / "releases"
    releases.mkdir(parents=True)
    (releases / "xla.toml").write_text(XLA, "utf-8")
    (releases / "inputs.toml").write_text(INPUTS, "utf-8")
    return releases.parent


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that is the machine's only package index."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def put_wheel(index: Path, filename: str, content: str = "") -> Path:
    """Put a wheel on the index."""
    info = "-".join(filename.split("-")[:2]) + ".dist-info"
    name, version = filename.split("-")[:2]
    with zipfile.ZipFile(index / filename, "w") as archive:
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\n")
        archive.writestr(f"{info}/RECORD", content)
    return index / filename


def test_every_file_is_pinned_and_kept(repository: Path, index: Path, tmp_path: Path) -> None:
    """Pins describe the bytes that pip brought for other Pythons, and the cache holds them for the builds."""
    files = [put_wheel(index, name) for name in (FIRST, SECOND)]
    release = pin_release(repository, "1.2.3", tmp_path / "cache", build=7)
    digests = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
    assert list(release.pins.values()) == [
        Pin(f"bindings.{python}.linux_x86_64", "bindings", "1.2.3", file.name, digest, file.stat().st_size)
        for python, file, digest in zip(("cp312", "cp314"), files, digests, strict=True)
    ]
    assert release.build == 7
    kept = {path.relative_to(tmp_path / "cache").as_posix() for path in (tmp_path / "cache").rglob("*.whl")}
    assert kept == {f"wheels/{digest}/{file.name}" for digest, file in zip(digests, files, strict=True)}


def test_a_series_is_pinned_at_the_newest_version_of_the_index(repository: Path, index: Path, tmp_path: Path) -> None:
    """The pin names the version that pip brought, not the series that was asked for."""
    inputs = repository / "releases/inputs.toml"
    inputs.write_text(INPUTS.replace('"{release}"', '"1.2.*"').replace('"cp312", "cp314"', '"cp312"'), "utf-8")
    for name in (FIRST, FIRST.replace("1.2.3", "1.2.10"), FIRST.replace("1.2.3", "1.3")):
        put_wheel(index, name)
    (pin,) = pin_release(repository, "1.2.3", tmp_path / "cache").pins.values()
    assert (pin.version, pin.filename) == ("1.2.10", FIRST.replace("1.2.3", "1.2.10"))


def test_pinning_again_changes_nothing(repository: Path, index: Path, tmp_path: Path) -> None:
    """The build tag is kept and the file stays byte for byte the same."""
    for name in (FIRST, SECOND):
        put_wheel(index, name)
    first = pin_release(repository, "1.2.3", tmp_path / "cache", build=7)
    text = first.path.read_bytes()
    assert pin_release(repository, "1.2.3", tmp_path / "cache") == first
    assert first.path.read_bytes() == text


def test_what_is_pinned_already_is_not_asked_for_again(repository: Path, index: Path, tmp_path: Path) -> None:
    """Of a release that gets one more input, only that one is looked for."""
    first, second = (put_wheel(index, name) for name in (FIRST, SECOND))
    inputs = repository / "releases/inputs.toml"
    inputs.write_text(INPUTS.replace('"cp312", "cp314"', '"cp312"'), "utf-8")
    before = pin_release(repository, "1.2.3", tmp_path / "cache").pins
    first.unlink()
    inputs.write_text(INPUTS, "utf-8")
    after = pin_release(repository, "1.2.3", tmp_path / "cache", missing_only=True).pins
    assert list(after) == [*before, "bindings.cp314.linux_x86_64"]
    assert after["bindings.cp314.linux_x86_64"].filename == second.name


def test_missing_file_stops_before_anything_is_written(repository: Path, index: Path, tmp_path: Path) -> None:
    """A release of which the index lacks one file is not pinned by half."""
    put_wheel(index, FIRST)
    with pytest.raises(PinError) as caught:
        pin_release(repository, "1.2.3", tmp_path / "cache")
    assert caught.value.what == "no wheel of bindings 1.2.3 for linux_x86_64, cp314"
    assert sorted(path.name for path in (repository / "releases").iterdir()) == ["inputs.toml", "xla.toml"]


def test_replaced_file_stops_before_anything_is_written(repository: Path, index: Path, tmp_path: Path) -> None:
    """Other bytes under a pinned name are refused, and the pins stay as they were."""
    for name in (FIRST, SECOND):
        put_wheel(index, name)
    path = pin_release(repository, "1.2.3", tmp_path / "cache").path
    text = path.read_bytes()
    put_wheel(index, SECOND, "other bytes")
    with pytest.raises(PinError, match=f"other bytes than were pinned for {SECOND}"):
        pin_release(repository, "1.2.3", tmp_path / "cache")
    assert path.read_bytes() == text


def test_unknown_release_stops_before_the_index_is_asked(repository: Path, tmp_path: Path) -> None:
    """A version nobody has written an XLA revision for needs no network to be refused."""
    with pytest.raises(PinError, match=r"no XLA revision is known for release '9\.9\.9'"):
        pin_release(repository, "9.9.9", tmp_path / "cache")
    assert not (tmp_path / "cache").exists()
