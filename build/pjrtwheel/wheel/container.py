# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the zip file of a wheel says one thing to every program that reads it (APPNOTE 4.3).

Programs find members by the directory at the end, by the headers in front of the data, or from the first byte on. Where
these differ, what is verified is not what is installed. So members lie one after the other from the first byte, each
header says what the directory says, and nothing else is in the file. Standard library only, as the fetcher uses this.
"""

import io
import os
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Any, BinaryIO, Literal

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_END64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR64 = struct.Struct("<4sIQI")
_DESCRIPTOR = b"PK\x07\x08"
_ENCRYPTED, _DESCRIBED, _UTF8 = 0x1, 0x8, 0x800
_ZIP64, _UNICODE_PATH = 0x1, 0x7075
_LIMIT32, _LIMIT16 = 0xFFFFFFFF, 0xFFFF
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_LARGEST_TOTAL = 16 << 30
_LARGEST_DIRECTORY = 64 << 20
_CHUNK = 1 << 18
_LARGEST_RATIO = 100  # machine code deflates to a third, text to a tenth
# What Windows takes for a device, whatever follows the first dot.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?:\..*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One member as the directory describes it.

    Attributes:
        name: Its bytes.
        attributes: Of the file system that it was packed on; the upper half is the mode of Unix.
        offset: Where its header is.
    """

    name: bytes
    flags: int
    method: int
    crc: int
    compressed: int
    size: int
    attributes: int
    offset: int
    extra: bytes

    @property
    def text(self) -> str:
        """The name as messages show it."""
        return self.name.decode("utf-8", "backslashreplace")

    @property
    def is_folder(self) -> bool:
        """Whether it is a directory, which has no data."""
        return self.name.endswith(b"/")


def check_container(file: BinaryIO) -> tuple[str, ...]:
    """Return what keeps an open zip file from being read alike by all, in words; only its headers are read.

    Raises:
        zipfile.BadZipFile: It is none, or its directory cannot be read.
    """
    size = file.seek(0, os.SEEK_END)
    entries, start = _read_directory(file, size)
    problems = [problem for entry in entries for problem in _check_entry(entry)]
    problems += _check_names([entry.text for entry in entries])
    total = sum(entry.size for entry in entries)
    if is_bomb(size, total):
        problems.append(f"{size} bytes claim to inflate to {total}: a zip bomb")
    return (*problems, *_check_places(file, entries, start))


def is_bomb(size: int, total: int) -> bool:
    """Return whether a file claims to inflate to more than any wheel does."""
    return total > min(_LARGEST_TOTAL, max(_LARGEST_RATIO * size, _LARGEST_RATIO << 20))


def _read(file: BinaryIO, place: int, length: int) -> bytes:
    file.seek(place)
    data = file.read(length)
    if len(data) != length:
        raise zipfile.BadZipFile("it ends within a record")
    return data


def _read_directory(file: BinaryIO, size: int) -> tuple[list[_Entry], int]:
    """Return the directory and where it begins; it and the records that end a zip file end with the file."""
    if size < _END.size:
        raise zipfile.BadZipFile("it is too short for a zip file")
    end = size - _END.size
    magic, disk, first_disk, here, count, length, start, comment = _END.unpack(_read(file, end, _END.size))
    if magic != b"PK\5\6" or comment:
        raise zipfile.BadZipFile("it does not end with the end of a directory")
    if end >= _LOCATOR64.size and (locator := _read(file, end - _LOCATOR64.size, _LOCATOR64.size))[:4] == b"PK\6\7":
        end -= _LOCATOR64.size + _END64.size
        short = (disk, first_disk, here, count, length, start)
        disk, first_disk, here, count, length, start = _read_end64(file, end, locator, short)
    if (disk, first_disk, here) != (0, 0, count):
        raise zipfile.BadZipFile("it is a part of a zip file")
    if start + length != end or length > _LARGEST_DIRECTORY:
        raise zipfile.BadZipFile("its directory is elsewhere than it says")
    entries = list(_parse_directory(_read(file, start, length)))
    if len(entries) != count:
        raise zipfile.BadZipFile(f"its directory has {len(entries)} members, its end says {count}")
    return entries, start


def _read_end64(file: BinaryIO, place: int, locator: bytes, short: tuple[int, ...]) -> tuple[int, ...]:
    """Return the 64-bit fields of the end; the 32-bit ones are the same, or say that they have no room."""
    if place < 0:
        raise zipfile.BadZipFile("it ends within a record")
    fields = _END64.unpack(_read(file, place, _END64.size))
    magic, length, _, _, *long = fields
    if (magic, length) != (b"PK\6\6", _END64.size - 12) or locator != _LOCATOR64.pack(b"PK\6\7", 0, place, 1):
        raise zipfile.BadZipFile("its 64-bit end is malformed")
    limits = (*[_LIMIT16] * 4, _LIMIT32, _LIMIT32)
    if any(value not in {limit, wide} for value, wide, limit in zip(short, long, limits, strict=True)):
        raise zipfile.BadZipFile("it has two ends that differ")
    return tuple(long)


def _parse_directory(data: bytes) -> Iterator[_Entry]:
    place = 0
    while place < len(data):
        if len(data) - place < _CENTRAL.size:
            raise zipfile.BadZipFile("its directory ends within a member")
        fields = _CENTRAL.unpack_from(data, place)
        magic, _, _, flags, method, _, _, crc, compressed, size, named, more, comment, disk, _, attributes, offset = (
            fields
        )
        names = place + _CENTRAL.size
        place = names + named + more + comment
        if magic != b"PK\1\2" or place > len(data) or disk:
            raise zipfile.BadZipFile("its directory is malformed")
        extra = data[names + named : names + named + more]
        size, compressed, offset = _widen(extra, size, compressed, offset)
        yield _Entry(data[names : names + named], flags, method, crc, compressed, size, attributes, offset, extra)


def _extra_fields(extra: bytes) -> dict[int, bytes]:
    """Return the extra fields of a header by their numbers.

    Raises:
        zipfile.BadZipFile: One ends after all of them, or is there twice.
    """
    found: dict[int, bytes] = {}
    place = 0
    while place < len(extra):
        if len(extra) - place < 4:
            raise zipfile.BadZipFile("an extra field is malformed")
        number, length = struct.unpack_from("<HH", extra, place)
        place += 4 + length
        if place > len(extra) or number in found:
            raise zipfile.BadZipFile("an extra field is malformed")
        found[number] = extra[place - length : place]
    return found


def _widen(extra: bytes, *values: int) -> tuple[int, ...]:
    """Return numbers of a header, those without room in it taken from its 64-bit field (APPNOTE 4.5.3).

    Raises:
        zipfile.BadZipFile: The field lacks one, or has others.
    """
    field = _extra_fields(extra).get(_ZIP64, b"")
    wide = [number for (number,) in struct.iter_unpack("<Q", field[: len(field) // 8 * 8])]
    if len(wide) != values.count(_LIMIT32):
        raise zipfile.BadZipFile("a 64-bit field has more or fewer numbers than are needed")
    return tuple(wide.pop(0) if value == _LIMIT32 else value for value in values)


def _check_entry(entry: _Entry) -> Iterator[str]:
    """Yield what is wrong with one member in the directory."""
    name = entry.text
    kind = stat.S_IFMT(entry.attributes >> 16)
    if not is_safe_name(name):
        yield f"{name!r} is no path inside a wheel"
    if not entry.name.isascii() and not (entry.flags & _UTF8 and _is_utf8(entry.name)):
        yield f"{name!r} is not marked as UTF-8, or is not"
    if kind not in {0, stat.S_IFDIR if entry.is_folder else stat.S_IFREG}:
        yield f"{name!r} is a symbolic link" if kind == stat.S_IFLNK else f"{name!r} is no regular file"
    if entry.flags & _ENCRYPTED:
        yield f"{name!r} is encrypted"
    if entry.method not in _METHODS:
        yield f"{name!r} is compressed by method {entry.method}, expected deflate"
    if entry.method == zipfile.ZIP_STORED and entry.compressed != entry.size:
        yield f"{name!r} has two sizes, and is not compressed"
    if entry.is_folder and (entry.size or entry.crc):
        yield f"{name!r} is a directory with data"
    if _UNICODE_PATH in _extra_fields(entry.extra):
        yield f"{name!r} has a second name in an extra field"


def _is_utf8(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def is_safe_name(name: str) -> bool:
    r"""Whether a member name stays below the directory it is unpacked to, as one file, on every platform.

    >>> [is_safe_name(name) for name in ("a/b.py", "../a", "/a", "a//b", "C:/a", "a\\b", "a./b", "nul.txt")]
    [True, False, False, False, False, False, False, False]
    """
    parts = name.removesuffix("/").split("/")
    clean = name.isprintable() and not set(name) & set("\\:")
    return clean and not any(part == "" or part.endswith((".", " ")) or _DEVICE.fullmatch(part) for part in parts)


def _check_names(names: Iterable[str]) -> Iterator[str]:
    """Yield names that some file systems do not tell apart, and files that others need as directories."""
    folded = [unicodedata.normalize("NFC", name).casefold() for name in names]
    there = Counter(name.removesuffix("/") for name in folded)
    yield from (f"{name!r} is there {count} times, for some file systems" for name, count in there.items() if count > 1)
    above = {str(parent) for name in folded for parent in PurePosixPath(name).parents}
    files = {name for name in folded if not name.endswith("/")}
    yield from (f"{name!r} is a file and a directory" for name in sorted(files & above))


def _check_places(file: BinaryIO, entries: Iterable[_Entry], start: int) -> Iterator[str]:
    """Yield members that do not begin where the one before ends, or whose own header says something else."""
    place = 0
    for entry in sorted(entries, key=lambda entry: entry.offset):
        if entry.offset != place:
            yield f"{entry.text!r} begins at {entry.offset}, what is before it ends at {place}"
            return
        header = _read(file, place, _LOCAL.size)
        magic, _, flags, method, _, _, crc, compressed, size, named, more = _LOCAL.unpack(header)
        names = _read(file, place + _LOCAL.size, named + more)
        if magic != b"PK\3\4":
            raise zipfile.BadZipFile(f"{entry.text!r} has no header")
        size, compressed = _widen_header(names[named:], size, compressed)
        place += _LOCAL.size + named + more + entry.compressed
        described = bool(entry.flags & _DESCRIBED)
        expected = (entry.crc, entry.compressed, entry.size)
        same = (names[:named], flags, method) == (entry.name, entry.flags, entry.method)
        if not same or ((crc, compressed, size) != expected and not (described and not any((crc, compressed, size)))):
            yield f"{entry.text!r} is described otherwise in front of its data"
        if _UNICODE_PATH in _extra_fields(names[named:]) and _UNICODE_PATH not in _extra_fields(entry.extra):
            yield f"{entry.text!r} has a second name in an extra field"
        if described:
            place += _descriptor_length(file, place, expected, wide=_ZIP64 in _extra_fields(names[named:]))
    if place != start:
        yield f"the directory begins at {start}, the last member ends at {place}"


def _widen_header(extra: bytes, size: int, compressed: int) -> tuple[int, ...]:
    """Return both sizes; writers that did not know them keep room for them, and may need none in the end."""
    field = _extra_fields(extra).get(_ZIP64, b"")
    if len(field) == 16 and (size, compressed) != (_LIMIT32, _LIMIT32):
        return size, compressed
    return _widen(extra, size, compressed)


def _descriptor_length(file: BinaryIO, place: int, expected: tuple[int, int, int], *, wide: bool) -> int:
    """Return the length of the record behind a member's data, which repeats what the directory says.

    Raises:
        zipfile.BadZipFile: There is none, or it says something else.
    """
    data = struct.pack("<I2Q" if wide else "<3I", *expected)
    for record in (_DESCRIPTOR + data, data):
        file.seek(place)
        if file.read(len(record)) == record:
            return len(record)
    raise zipfile.BadZipFile("what follows a member's data says something else than the directory")


class StrictArchive(zipfile.ZipFile):
    """A zip file that was checked, whose members can be read only where their streams end with their data.

    Others read on behind the end of a stream, or take what lies there for another member.
    """

    def open(
        self,
        name: str | zipfile.ZipInfo,
        mode: Literal["r", "w"] = "r",
        pwd: bytes | None = None,
        *,
        force_zip64: bool = False,
    ) -> IO[bytes]:
        """Return the bytes of a member; reading them to the end raises a `BadZipFile` where they are damaged."""
        info = name if isinstance(name, zipfile.ZipInfo) else self.getinfo(name)
        if mode == "w" or info.compress_type == zipfile.ZIP_STORED or self.fp is None:
            return super().open(info, mode, pwd, force_zip64=force_zip64)
        return io.BufferedReader(_Inflated(self.fp.fileno(), info), _CHUNK)


class _Inflated(io.RawIOBase):
    """The inflated bytes of one member."""

    def __init__(self, descriptor: int, info: zipfile.ZipInfo) -> None:
        header = os.pread(descriptor, _LOCAL.size, info.header_offset)
        *_, named, more = _LOCAL.unpack(header)
        self._descriptor, self._info = descriptor, info
        self._place = info.header_offset + _LOCAL.size + named + more
        self._end = self._place + info.compress_size
        self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
        self._size = self._crc = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with what comes next."""
        data = b""
        while not data and not self._stream.eof:
            compressed = self._stream.unconsumed_tail or self._take()
            data = self._stream.decompress(compressed, len(buffer))
        self._size += len(data)
        self._crc = zlib.crc32(data, self._crc)
        if self._size > self._info.file_size or (not data and not self._is_whole()):
            raise zipfile.BadZipFile(f"the data of {self._info.filename!r} is not what its header says")
        buffer[: len(data)] = data
        return len(data)

    def _take(self) -> bytes:
        data = os.pread(self._descriptor, min(_CHUNK, self._end - self._place), self._place)
        if not data:
            raise zipfile.BadZipFile(f"the data of {self._info.filename!r} ends within its stream")
        self._place += len(data)
        return data

    def _is_whole(self) -> bool:
        ended = self._place == self._end and not self._stream.unused_data
        return ended and (self._size, self._crc) == (self._info.file_size, self._info.CRC)
