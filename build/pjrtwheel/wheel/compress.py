# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""How members are compressed and dated: by libdeflate (RFC 1951), and which settings a finished wheel was made with.

No wheel says how it was compressed and dated, which building it again needs.
"""

from __future__ import annotations

import calendar
import struct
import zipfile
from pathlib import Path
from typing import BinaryIO

import deflate

from pjrtwheel.wheel.members import open_wheel

# What libdeflate calls levels, a word that proofs have here. From 10 on it looks for the shortest stream: a plugin
# library becomes 2 to 3 % smaller in five times the time or more, which pays for wheels that many will download.
DEFAULT_COMPRESSION = 6
HIGHEST_COMPRESSION = 12

_LARGEST = 1 << 18  # bytes of the members to compress again
_MEMBERS = 64  # of these, the largest: settings differ in few bytes, and not in those of every member
_NO_DATE = (1980, 1, 1, 0, 0, 0)  # of members without SOURCE_DATE_EPOCH


def compress(data: bytes | bytearray, setting: int | None = None) -> bytes | bytearray:
    """Return a deflate stream; without a setting, which libdeflate calls its level, with the default."""
    stream: bytearray = deflate.deflate_compress(data, DEFAULT_COMPRESSION if setting is None else setting)
    return stream


def find_compression(wheel: Path) -> int | None:
    """Return the setting of libdeflate that gives a wheel's bytes; nothing if none does, as other programs made it.

    Some members are compressed again. Where several settings give the same bytes, it is the default if that does.

    Raises:
        WheelError: The wheel is damaged or hostile.
    """
    with open_wheel(wheel) as archive, wheel.open("rb") as file:
        members = [info for info in archive.infolist() if 0 < info.file_size <= _LARGEST]
        largest = sorted(members, key=lambda info: info.file_size)[-_MEMBERS:]
        pairs = [(archive.read(info), _read_stored(file, info)) for info in reversed(largest)]
    settings = sorted(range(1, HIGHEST_COMPRESSION + 1), key=lambda setting: setting != DEFAULT_COMPRESSION)
    fitting = (setting for setting in settings if all(compress(data, setting) == stored for data, stored in pairs))
    return next(fitting, None) if pairs else None


def _read_stored(file: BinaryIO, member: zipfile.ZipInfo) -> bytes:
    """Return the compressed bytes of a member."""
    file.seek(member.header_offset + 26)
    file.seek(sum(struct.unpack("<HH", file.read(4))), 1)  # its name and extra field
    return file.read(member.compress_size)


def find_epoch(wheel: Path) -> int | None:
    """Return the SOURCE_DATE_EPOCH that a wheel's members are dated by; nothing if it was not set.

    Raises:
        WheelError: The wheel is damaged or hostile.
    """
    with open_wheel(wheel) as archive:
        dates = {info.date_time for info in archive.infolist()}
    # A date of a zip file stands for UTC here.
    return calendar.timegm((*dates.pop(), 0, 0, 0)) if len(dates) == 1 and dates != {_NO_DATE} else None
