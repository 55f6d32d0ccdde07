# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The zip writer: what it writes is read back equal, and failure leaves nothing."""

import fcntl
import hashlib
import os
import resource
import sys
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pjrtwheel.errors import WheelError
from pjrtwheel.wheel import archive, compress
from pjrtwheel.wheel.archive import ZipEntry, end_of_directory, open_archive, timestamp
from pjrtwheel.wheel.members import Member
from pjrtwheel.wheel.plan import MemberSource, text_source

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


def test_long_member_in_many_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A member of many chunks is one stream, and equal for any number of threads."""
    monkeypatch.setattr(archive, "CHUNK_SIZE", 1000)
    data = bytes(range(256)) * 40
    for workers in (1, 3):
        monkeypatch.setattr(archive, "worker_count", partial(int, workers))
        monkeypatch.setattr(compress, "worker_count", partial(int, workers))
        write(tmp_path / f"{workers}.zip", [text_source("a", data)])
    with zipfile.ZipFile(tmp_path / "1.zip") as read:
        assert read.read("a") == data
    assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "3.zip").read_bytes()


def test_permissions_and_time_are_fixed(tmp_path: Path) -> None:
    """Only what executes gets the permission; the date is the first that a zip file can state."""
    library = MemberSource("lib.so", 1, lambda _: iter([memoryview(b"x")]), executable=True)
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

    def broken(_: int) -> Iterator[memoryview]:
        yield memoryview(b"half")
        raise RuntimeError("interrupted")

    with pytest.raises(RuntimeError, match="interrupted"):
        write(path, [MemberSource("a", 8, broken)])
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.zip"]
    assert path.read_bytes() == before


def test_wrong_size_is_an_error(tmp_path: Path) -> None:
    """A file that shrinks while it is read is noticed."""
    with pytest.raises(WheelError, match="a has 4 bytes, expected 8"):
        write(tmp_path / "a.zip", [MemberSource("a", 8, lambda _: iter([memoryview(b"half")]))])
    assert list(tmp_path.iterdir()) == []


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


def test_leftovers_of_the_killed_are_removed(tmp_path: Path) -> None:
    """The partial file of a process that was killed goes; that of one which lives stays."""
    dead, alive = tmp_path / ".a.zip.1.partial", tmp_path / ".a.zip.2.partial"
    dead.write_bytes(b"half")
    with alive.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        write(tmp_path / "a.zip", [text_source("a", "x")])
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [".a.zip.2.partial", "a.zip"]


def test_two_writers_of_one_path_never_share_a_file(tmp_path: Path) -> None:
    """Each writes a file of its own, even within one process; the last to finish wins, whole."""
    path = tmp_path / "a.zip"
    with open_archive(path, stamp=STAMP) as first:
        first.add(text_source("a", "first"))
        assert len(list(tmp_path.iterdir())) == 1
        write(path, [text_source("a", "second")])
    with zipfile.ZipFile(path) as read:
        assert read.read("a") == b"first"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.zip"]


def test_64_bit_fields_are_read_back() -> None:
    """Sizes and offsets beyond 32 bits go to the extra field, as zipfile reads it."""
    entry = ZipEntry("a", 0o100644, STAMP, size=5 << 32, offset=6 << 32, crc=7, compressed=4 << 32)
    info = zipfile.ZipInfo("a")
    record = entry.directory_record()
    info.extra = record[47:]
    info.file_size, info.compress_size, info.header_offset = 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF
    info._decodeExtra(*([0] if sys.version_info >= (3, 12) else []))  # type: ignore[attr-defined]
    assert (info.file_size, info.compress_size, info.header_offset) == (5 << 32, 4 << 32, 6 << 32)
    assert len(entry.local_header()) == 30 + 1 + 20


def test_many_members(tmp_path: Path) -> None:
    """More members than 16 bits can count need the 64-bit end record."""
    count = 65_600
    with (tmp_path / "a.zip").open("wb") as file:
        records = []
        for number in range(count):
            entry = ZipEntry(f"{number}", 0o100644, STAMP, 0, file.tell(), method=0)
            file.write(entry.local_header())
            records.append(entry.directory_record())
        offset = file.tell()
        directory = b"".join(records)
        file.write(directory + end_of_directory(count, len(directory), offset))
    with zipfile.ZipFile(tmp_path / "a.zip") as read:
        assert len(read.namelist()) == count
