# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The zip writer: what it writes is read back equal, and failure leaves nothing."""

import hashlib
import os
import resource
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pjrtwheel.errors import WheelError
from pjrtwheel.wheel.archive import open_archive, timestamp
from pjrtwheel.wheel.members import Member
from pjrtwheel.wheel.plan import MemberSource, text_source, unchanged_source

STAMP = timestamp({})


def write(path: Path, members: list[MemberSource]) -> list[Member]:
    """Write an archive."""
    with open_archive(path, stamp=STAMP) as writer:
        return [writer.add(member) for member in members]


@settings(max_examples=50)
@given(st.dictionaries(st.text("abcé/", min_size=1), st.binary(max_size=3000), max_size=5))
def test_members_are_read_back(tmp_path_factory: pytest.TempPathFactory, contents: dict[str, bytes]) -> None:
    """Names, bytes and checksums survive, and what was written is reported with its digest."""
    path = tmp_path_factory.mktemp("archive") / "a.zip"
    written = write(path, [text_source(name, data) for name, data in contents.items()])
    with zipfile.ZipFile(path) as read:
        assert read.testzip() is None
        assert {name: read.read(name) for name in read.namelist()} == contents
    assert written == [Member(len(data), hashlib.sha256(data).hexdigest()) for data in contents.values()]


def test_permissions_and_time_are_fixed(tmp_path: Path) -> None:
    """Only what executes gets the permission; the date is the first that a zip file can state."""
    library = MemberSource("lib.so", 1, lambda: b"x", executable=True)
    write(tmp_path / "a.zip", [library, text_source("a.py", "")])
    with zipfile.ZipFile(tmp_path / "a.zip") as read:
        facts = [(info.external_attr >> 16, info.date_time, info.create_system) for info in read.infolist()]
    assert facts == [(0o100755, (1980, 1, 1, 0, 0, 0), 3), (0o100644, (1980, 1, 1, 0, 0, 0), 3)]


@pytest.mark.parametrize(
    ("epoch", "moment"),
    [
        ("0", (1980, 1, 1, 0, 0, 0)),
        ("1700000000", (2023, 11, 14, 22, 13, 20)),
        ("9999999999", (2107, 12, 31, 23, 59, 58)),
    ],
    ids=["too early", "as given", "too late"],
)
def test_source_date_epoch(tmp_path: Path, epoch: str, moment: tuple[int, ...]) -> None:
    """SOURCE_DATE_EPOCH is the date of all members, as near as a zip file can state it."""
    with open_archive(tmp_path / "a.zip", stamp=timestamp({"SOURCE_DATE_EPOCH": epoch})) as writer:
        writer.add(text_source("a", "x"))
    with zipfile.ZipFile(tmp_path / "a.zip") as read:
        assert read.getinfo("a").date_time == moment


def test_senseless_source_date_epoch() -> None:
    """A date that is no number is an error, not another date."""
    with pytest.raises(WheelError, match="SOURCE_DATE_EPOCH is 'yesterday'"):
        timestamp({"SOURCE_DATE_EPOCH": "yesterday"})


def test_failure_leaves_nothing(tmp_path: Path) -> None:
    """An error while writing removes the partial file and keeps an older finished one."""
    path = tmp_path / "a.zip"
    write(path, [text_source("a", "old")])
    before = path.read_bytes()

    def broken() -> bytes:
        raise RuntimeError("interrupted")

    with pytest.raises(RuntimeError, match="interrupted"):
        write(path, [text_source("b", "half"), MemberSource("a", 8, broken)])
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.zip"]
    assert path.read_bytes() == before


def test_a_file_that_shrinks(tmp_path: Path) -> None:
    """A file that shrinks before it is read is noticed."""
    (tmp_path / "a").write_bytes(b"two halves")
    with (tmp_path / "a").open("rb") as file:
        member = unchanged_source("a", file)
        os.truncate(tmp_path / "a", 4)
        with pytest.raises(WheelError, match="a became shorter while it was read"):
            write(tmp_path / "a.zip", [member])
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_full_disk(tmp_path: Path) -> None:
    """When the file cannot grow, the error says so and nothing partial stays behind; the limit is the kernel's own."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        with pytest.raises(WheelError) as caught:
            write(tmp_path / "é è.whl", [text_source("a", os.urandom(200_000))])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.what == f"no space left on the disk of {tmp_path}"
    assert list(tmp_path.iterdir()) == []


def test_a_wheel_of_four_gibibytes_is_refused(tmp_path: Path) -> None:
    """Before a byte of it is read; nothing is left."""
    with pytest.raises(WheelError, match="with b the wheel has more than 4 GiB, or 65534 members"):
        write(tmp_path / "a.zip", [text_source("a", "x"), MemberSource("b", 0xFF000000, lambda: pytest.fail("read"))])
    assert list(tmp_path.iterdir()) == []
