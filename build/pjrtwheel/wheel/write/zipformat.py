# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The records of zip files (APPNOTE 4.3), with the 64-bit fields where a value needs them."""

from __future__ import annotations

import struct
from dataclasses import dataclass

STORED = 0
DEFLATED = 8

_LIMIT32 = 0xFFFFFFFF
_LIMIT16 = 0xFFFF
# Data that cannot be compressed grows by up to 0.1 %, and the field must be chosen before the data is there.
_SIZE_LIMIT = 0xFF000000
_UTF8_NAMES = 0x800
_UNIX = 3 << 8
_ZIP64_ID = 1

_LOCAL = struct.Struct("<IHHHHHIIIHH")
_CENTRAL = struct.Struct("<IHHHHHHIIIHHHHHII")
_END = struct.Struct("<IHHHHIIH")
_END64 = struct.Struct("<IQHHIIQQQQ")
_LOCATOR64 = struct.Struct("<IIQI")


@dataclass(frozen=True, slots=True)
class ZipEntry:
    """One member as the directory of a zip file describes it.

    Attributes:
        mode: Unix file type and permissions.
        stamp: Time and date in MS-DOS form.
        offset: Where its local header is.
        method: `STORED` or `DEFLATED`.
        compressed: Length of what is stored of it.
    """

    name: str
    mode: int
    stamp: tuple[int, int]
    size: int
    offset: int
    method: int = DEFLATED
    crc: int = 0
    compressed: int = 0

    def local_header(self) -> bytes:
        """Return the record in front of the data; its length depends on name and size alone."""
        name = self.name.encode()
        extra = _zip64_extra(self.size, self.compressed) if self.size > _SIZE_LIMIT else b""
        sizes = (_LIMIT32, _LIMIT32) if extra else (self.compressed, self.size)
        return (
            _LOCAL.pack(
                0x04034B50, 45 if extra else 20, _flags(name), self.method, *self.stamp, self.crc, *sizes,
                len(name), len(extra),
            )
            + name
            + extra
        )  # fmt: skip

    def directory_record(self) -> bytes:
        """Return the record in the central directory."""
        name = self.name.encode()
        large = self.size > _SIZE_LIMIT
        values = (self.size, self.compressed) if large else ()
        far = self.offset >= _LIMIT32
        extra = _zip64_extra(*values, *((self.offset,) if far else ()))
        version = 45 if extra else 20
        sizes = (_LIMIT32, _LIMIT32) if large else (self.compressed, self.size)
        offset = _LIMIT32 if far else self.offset
        return (
            _CENTRAL.pack(
                0x02014B50, _UNIX | version, version, _flags(name), self.method, *self.stamp, self.crc, *sizes,
                len(name), len(extra), 0, 0, 0, self.mode << 16, offset,
            )
            + name
            + extra
        )  # fmt: skip


def end_of_directory(count: int, size: int, offset: int) -> bytes:
    """Return the records that close a zip file, by number of members, and length and place of the central directory."""
    large = count >= _LIMIT16 or size >= _LIMIT32 or offset >= _LIMIT32
    end64 = _END64.pack(0x06064B50, 44, 45, 45, 0, 0, count, count, size, offset) if large else b""
    locator = _LOCATOR64.pack(0x07064B50, 0, offset + size, 1) if large else b""
    count, size, offset = min(count, _LIMIT16), min(size, _LIMIT32), min(offset, _LIMIT32)
    return end64 + locator + _END.pack(0x06054B50, 0, 0, count, count, size, offset, 0)


def _flags(name: bytes) -> int:
    return 0 if name.isascii() else _UTF8_NAMES


def _zip64_extra(*values: int) -> bytes:
    """Return the extra field that holds the values which do not fit 32 bits."""
    return struct.pack(f"<HH{len(values)}Q", _ZIP64_ID, 8 * len(values), *values) if values else b""
