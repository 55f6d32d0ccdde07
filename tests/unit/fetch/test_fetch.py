# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Pinned wheels: what the cache keeps and refuses, and what may be unpacked."""

import hashlib
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from pjrtwheel.errors import FetchError
from pjrtwheel.fetch import WheelCache, unpack_wheel
from pjrtwheel.fetch import __main__ as fetch_command
from pjrtwheel.fetch.index import explain_output
from pjrtwheel.release.known import choose_release
from pjrtwheel.release.model import Pin, read_release

CONTENT = b"the bytes that were pinned"
PIN = Pin(
    "plugin.cpu.linux_x86_64", "x", "1", "x-1-py3-none-any.whl", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT)
)

Bring = Callable[[Pin, Path], Path]


def serve(content: bytes) -> Bring:
    """Return a download that brings these bytes."""

    def download(pin: Pin, directory: Path) -> Path:
        (directory / pin.filename).write_bytes(content)
        return directory / pin.filename

    return download


def unreachable(pin: Pin, _directory: Path) -> Path:
    """Fail as a download without a network does."""
    raise explain_output(f"cannot download {pin.filename}", "NewConnectionError: Network is unreachable")


def test_wheel_is_downloaded_once(tmp_path: Path) -> None:
    """What is in the cache needs no network any more."""
    assert WheelCache(tmp_path, serve(CONTENT)).fetch(PIN) == tmp_path / "wheels" / PIN.sha256 / PIN.filename
    assert WheelCache(tmp_path, unreachable).fetch(PIN).read_bytes() == CONTENT


def test_leftovers_of_killed_downloads_are_removed(tmp_path: Path) -> None:
    """What a killed run had of this wheel goes; the download of another wheel may be alive and stays."""
    killed, other = tmp_path / f".download-{PIN.sha256}-x", tmp_path / f".download-{'0' * 64}-x"
    for directory in (killed, other):
        directory.mkdir()
        (directory / "half").write_bytes(CONTENT)
    WheelCache(tmp_path, serve(CONTENT)).fetch(PIN)
    assert sorted(path.name for path in tmp_path.glob(".download-*")) == [other.name]


@pytest.mark.parametrize(
    ("content", "message"),
    [(CONTENT[:-1], "has 25 bytes and .*, pinned are 26"), (CONTENT.upper(), "has 26 bytes")],
    ids=["truncated", "other bytes"],
)
def test_wrong_bytes_are_refused_and_not_kept(tmp_path: Path, content: bytes, message: str) -> None:
    """A download that was cut off or replaced never gets into the cache."""
    with pytest.raises(FetchError, match=message):
        WheelCache(tmp_path, serve(content)).fetch(PIN)
    assert not list(tmp_path.rglob("*.whl"))


def test_damaged_copy_in_the_cache_is_replaced(tmp_path: Path) -> None:
    """A cache that a crash or a disk has damaged is repaired."""
    cache = WheelCache(tmp_path, serve(CONTENT))
    cache.fetch(PIN).write_bytes(b"rubbish")
    assert cache.fetch(PIN).read_bytes() == CONTENT


def test_no_network_and_no_copy_is_a_clear_error(tmp_path: Path) -> None:
    """The message says which file and that a full cache would do as well."""
    with pytest.raises(FetchError) as caught:
        WheelCache(tmp_path, unreachable).fetch(PIN)
    assert PIN.filename in caught.value.what
    assert "PJRTWHEEL_CACHE" in caught.value.remedy


def test_what_is_pinned_is_described_without_fetching_it(root: Path, tmp_path: Path) -> None:
    """A distribution that is only required is not downloaded, and no folder is made for it."""
    release = choose_release(root, None, "linux_x86_64", "tpu").path
    options = ["--release-file", str(release), "--pin", "plugin.tpu.linux_x86_64", "--output", str(tmp_path / "out")]
    result = fetch_command.execute(
        fetch_command.parse([*options, "--describe"]), WheelCache(tmp_path / "cache", unreachable)
    )
    assert result == {"pin": asdict(read_release(release).pin("plugin.tpu.linux_x86_64")), "members": ()}
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def wheel(tmp_path: Path) -> Callable[[str, int], Path]:
    """Return a factory of wheels with a good member and one of a given name and mode."""

    def make(name: str, mode: int = 0o644) -> Path:
        path = tmp_path / "a-1-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a/good.so", "good")
            member = zipfile.ZipInfo(name)
            member.external_attr = mode << 16
            archive.writestr(member, "evil")
        return path

    return make


def test_chosen_members_are_unpacked_with_their_mode(wheel: Callable[[str, int], Path], tmp_path: Path) -> None:
    """Only what a pattern names is written, and programs stay programs."""
    assert unpack_wheel(wheel("a/run", 0o755), tmp_path / "out", ["a/r*"]) == ("a/run",)
    assert [path.name for path in (tmp_path / "out" / "a").iterdir()] == ["run"]
    assert (tmp_path / "out" / "a" / "run").stat().st_mode & 0o777 == 0o755


def test_missing_member_is_named(wheel: Callable[[str, int], Path], tmp_path: Path) -> None:
    """A wheel that is laid out differently than its pin says is refused by the name of what is missing."""
    with pytest.raises(FetchError, match=r"has no member 'b/\*\.so'"):
        unpack_wheel(wheel("a/x", 0o644), tmp_path / "out", ["b/*.so"])
