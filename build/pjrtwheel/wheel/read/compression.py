# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find out how a finished wheel was compressed and dated, which no wheel says, and which building it again needs."""

from __future__ import annotations

import calendar
import struct
import zipfile
from pathlib import Path
from typing import BinaryIO

from pjrtwheel.wheel.deflate.compress import HIGHEST_LEVEL, LEVEL, compress_chunk
from pjrtwheel.wheel.read.directory import open_wheel

_LARGEST = 1 << 18  # of the members to compress again; far below the length from which members are split
_MEMBERS = 64  # of these, the largest: levels differ in few bytes, and not in those of every member
_NO_DATE = (1980, 1, 1, 0, 0, 0)  # of members without SOURCE_DATE_EPOCH


def find_level(wheel: Path) -> int | None:
    """Return the level of libdeflate that gives a wheel's bytes; nothing if none does, as other programs made it.

    Some members are compressed again. Where several levels give the same bytes, it is the default if that does.

    Raises:
        WheelError: The wheel is damaged or hostile.
    """
    with open_wheel(wheel) as archive, wheel.open("rb") as file:
        members = [info for info in archive.infolist() if 0 < info.file_size <= _LARGEST]
        largest = sorted(members, key=lambda info: info.file_size)[-_MEMBERS:]
        pairs = [(memoryview(archive.read(info)), _read_stored(file, info)) for info in reversed(largest)]
    levels = (LEVEL, *(level for level in range(1, HIGHEST_LEVEL + 1) if level != LEVEL))
    fitting = (
        level
        for level in levels
        if all(compress_chunk(data, final=True, level=level) == stored for data, stored in pairs)
    )
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
    return _moment(dates.pop()) if len(dates) == 1 and dates != {_NO_DATE} else None


def _moment(date: tuple[int, int, int, int, int, int]) -> int:
    """Return a date of a zip file, which stands for UTC here, as seconds since 1970."""
    return calendar.timegm((*date, 0, 0, 0))
