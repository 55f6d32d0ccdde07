# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the zip file of a wheel says one thing to every program that reads it (APPNOTE 4.3).

Programs find members by the directory at the end, by the headers in front of the data, or from the first byte on. Where
these differ, what is verified is not what is installed. So members lie one after the other from the first byte, each
header says what the directory says, and nothing else is in the file. Standard library only, as the fetcher uses this.
"""

import os
import re
import stat
import struct
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO

# Layouts of the records (APPNOTE 4.3), each with its magic number first.
LOCAL = struct.Struct("<4s5H3I2H")
CENTRAL = struct.Struct("<4s6H3I5H2I")
END = struct.Struct("<4s4H2IH")
_END64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR64 = struct.Struct("<4sIQI")
_DESCRIPTOR = b"PK\x07\x08"
_DESCRIBED, UTF8 = 0x8, 0x800
# These and two about how well it was compressed; others say that data are encrypted, patched or masked.
_FLAGS = _DESCRIBED | UTF8 | 0x6
_ZIP64, _UNICODE_PATH = 0x1, 0x7075
_LIMIT32, _LIMIT16 = 0xFFFFFFFF, 0xFFFF
_STORED = zipfile.ZIP_STORED
_METHODS = {_STORED, zipfile.ZIP_DEFLATED}
_LARGEST_TOTAL = 16 << 30
_LARGEST_RATIO = 100  # machine code deflates to a third, text to a tenth
# What Windows takes for a device, whatever follows the first dot.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?:\..*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One member as the directory describes it.

    Attributes:
        name: Its name; bytes that are no UTF-8 have backslashes in it, which no name in a wheel may have.
        attributes: Of the file system that it was packed on; the upper half is the mode of Unix.
        offset: Where its header is.
    """

    name: str
    flags: int
    method: int
    crc: int
    compressed: int
    size: int
    attributes: int
    offset: int


def check_container(file: BinaryIO) -> tuple[str, ...]:
    """Return what keeps an open zip file from being read alike by all, in words; only its headers are read.

    Raises:
        zipfile.BadZipFile: It is none, or its directory cannot be read.
        struct.error: The same.
    """
    size = file.seek(0, os.SEEK_END)
    entries, start = _read_directory(file, size)
    problems = [problem for entry in entries for problem in _check_entry(entry)]
    problems += _check_names([entry.name for entry in entries])
    total = sum(entry.size for entry in entries)
    if is_bomb(size, total):
        problems.append(f"{size} bytes claim to inflate to {total}: a zip bomb")
    return (*problems, *_check_places(file, entries, start))


def is_bomb(size: int, total: int) -> bool:
    """Return whether a file claims to inflate to more than any wheel does."""
    return total > min(_LARGEST_TOTAL, max(_LARGEST_RATIO * size, _LARGEST_RATIO << 20))


def _read(file: BinaryIO, place: int, length: int) -> bytes:
    data = b""
    if place >= 0:
        file.seek(place)
        data = file.read(length)
    if len(data) != length:
        raise zipfile.BadZipFile("it ends within a record")
    return data


def _read_directory(file: BinaryIO, size: int) -> tuple[list[_Entry], int]:
    """Return the directory and where it begins; it and the records that end a zip file end with the file."""
    end = size - END.size
    magic, *numbers, comment = END.unpack(_read(file, end, END.size))
    if magic != b"PK\5\6" or comment:
        raise zipfile.BadZipFile("it does not end as a zip file does")
    locator = _read(file, end - _LOCATOR64.size, _LOCATOR64.size)
    if locator.startswith(b"PK\6\7"):
        end -= _LOCATOR64.size + _END64.size
        numbers = _read_end64(file, end, locator, numbers)
    *disks, count, length, start = numbers
    if disks != [0, 0, count]:
        raise zipfile.BadZipFile("it is a part of a zip file")
    if start + length != end:
        raise zipfile.BadZipFile("its list of members is not where it says: bytes were added, or are missing")
    entries = list(_parse_directory(_read(file, start, length)))
    if len(entries) != count:
        raise zipfile.BadZipFile(f"its directory has {len(entries)} members, its end says {count}")
    return entries, start


def _read_end64(file: BinaryIO, place: int, locator: bytes, short: Sequence[int]) -> list[int]:
    """Return the 64-bit numbers of the end; the shorter ones are the same, or say that they have no room."""
    magic, length, _, _, *long = _END64.unpack(_read(file, place, _END64.size))
    if (magic, length) != (b"PK\6\6", _END64.size - 12) or locator != _LOCATOR64.pack(b"PK\6\7", 0, place, 1):
        raise zipfile.BadZipFile("its 64-bit end is malformed")
    limits = [_LIMIT16] * 4 + [_LIMIT32] * 2
    if any(value not in {limit, wide} for value, wide, limit in zip(short, long, limits, strict=True)):
        raise zipfile.BadZipFile("it has two ends that differ")
    return long


def _parse_directory(data: bytes) -> Iterator[_Entry]:
    place = 0
    while place < len(data):
        magic, _, _, flags, method, _, _, crc, *sizes, named, more, comment, disk, _, attributes, offset = (
            CENTRAL.unpack_from(data, place)
        )
        extra = place + CENTRAL.size + named
        name, place = _decode(data[extra - named : extra]), extra + more + comment
        if magic != b"PK\1\2" or place > len(data) or disk:
            raise zipfile.BadZipFile("its directory is malformed")
        size, compressed, offset = _widen(_find_wide(data[extra : extra + more]), sizes[1], sizes[0], offset)
        yield _Entry(name, flags, method, crc, compressed, size, attributes, offset)


def _decode(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")


def _find_wide(extra: bytes) -> bytes:
    """Return the 64-bit field among the extra fields of a header (APPNOTE 4.5.3); nothing if there is none.

    Raises:
        zipfile.BadZipFile: One ends after all of them, is there twice, or gives the member a second name.
    """
    found: dict[int, bytes] = {}
    place = 0
    while place < len(extra):
        number, length = struct.unpack_from("<HH", extra, place)
        place += 4 + length
        if place > len(extra) or number in found or number == _UNICODE_PATH:
            raise zipfile.BadZipFile("an extra field is malformed, or a second name")
        found[number] = extra[place - length : place]
    return found.get(_ZIP64, b"")


def _widen(field: bytes, *values: int) -> tuple[int, ...]:
    """Return numbers of a header, those without room in it taken from its 64-bit field.

    Raises:
        zipfile.BadZipFile: The field lacks one, or has others.
    """
    wide = [number for (number,) in struct.iter_unpack("<Q", field)]
    if len(wide) != values.count(_LIMIT32):
        raise zipfile.BadZipFile("a 64-bit field has more or fewer numbers than are needed")
    return tuple(wide.pop(0) if value == _LIMIT32 else value for value in values)


def _check_entry(entry: _Entry) -> Iterator[str]:
    """Yield what is wrong with one member in the directory."""
    name, is_folder = entry.name, entry.name.endswith("/")
    kind = stat.S_IFMT(entry.attributes >> 16)
    problems = {
        "is no path inside a wheel": not is_safe_name(name),
        "is not marked as UTF-8": not name.isascii() and not entry.flags & UTF8,
        "is a symbolic link": kind == stat.S_IFLNK,
        "is no regular file": kind not in {0, stat.S_IFLNK, stat.S_IFDIR if is_folder else stat.S_IFREG},
        f"has unknown flags {entry.flags:#x}": entry.flags & ~_FLAGS,
        f"is compressed by method {entry.method}, expected deflate": entry.method not in _METHODS,
        "has two sizes, and is not compressed": entry.method == _STORED and entry.compressed != entry.size,
        # Who reads from the first byte on cannot tell where such data end.
        "is not compressed, and its size is behind it": entry.method == _STORED and entry.flags & _DESCRIBED,
        # Some tools deflate the nothing of a directory, to two bytes.
        "is a directory with data": is_folder and (entry.size or entry.crc or entry.compressed > 2),
    }
    yield from (f"{name!r} {problem}" for problem, found in problems.items() if found)


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
    yield from (f"{name!r} is there {count} times, case folded" for name, count in there.items() if count > 1)
    above = {str(parent) for name in folded for parent in PurePosixPath(name).parents}
    files = {name for name in folded if not name.endswith("/")}
    yield from (f"{name!r} is a file and a directory" for name in sorted(files & above))


def _check_places(file: BinaryIO, entries: Iterable[_Entry], start: int) -> Iterator[str]:
    """Yield members that do not begin where the one before ends, or whose own header says something else."""
    place = 0
    for entry in sorted(entries, key=lambda entry: entry.offset):
        if entry.offset != place:
            yield f"{entry.name!r} begins at {entry.offset}, what is before it ends at {place}"
            return
        header = _read(file, place, LOCAL.size)
        magic, _, flags, method, _, _, crc, compressed, size, named, more = LOCAL.unpack(header)
        names = _read(file, place + LOCAL.size, named + more)
        if magic != b"PK\3\4":
            raise zipfile.BadZipFile(f"{entry.name!r} has no header")
        field = _find_wide(names[named:])
        # Writers that did not know the sizes keep room for both, and may need none in the end.
        unneeded = {bytes(16), struct.pack("<2Q", size, compressed)}
        if field not in unneeded or (size, compressed) == (_LIMIT32, _LIMIT32):
            size, compressed = _widen(field, size, compressed)
        place += LOCAL.size + named + more + entry.compressed
        described = entry.flags & _DESCRIBED
        expected, found = (entry.crc, entry.compressed, entry.size), (crc, compressed, size)
        same = (_decode(names[:named]), flags, method) == (entry.name, entry.flags, entry.method)
        if not same or (found != expected and (any(found) or not described)):
            yield f"{entry.name!r} is described otherwise in front of its data"
        if described:
            place += _descriptor_length(file, place, struct.pack("<I2Q" if field else "<3I", *expected))
    if place != start:
        yield f"the directory begins at {start}, the last member ends at {place}"


def _descriptor_length(file: BinaryIO, place: int, data: bytes) -> int:
    """Return the length of the record behind a member's data, which repeats what the directory says.

    Raises:
        zipfile.BadZipFile: There is none, or it says something else.
    """
    for record in (_DESCRIPTOR + data, data):
        file.seek(place)
        if file.read(len(record)) == record:
            return len(record)
    raise zipfile.BadZipFile("what follows a member's data says something else than the directory")
