# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read the members of a zip file whose headers were checked (`container.py`), each to the very end of its stream."""

import io
import os
import zipfile
import zlib
from typing import IO, Any, Literal

from pjrtwheel.wheel.container import LOCAL

_CHUNK = 1 << 18


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
        header = os.pread(descriptor, LOCAL.size, info.header_offset)
        *_, named, more = LOCAL.unpack(header)
        self._descriptor, self._info = descriptor, info
        self._place = info.header_offset + LOCAL.size + named + more
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
            data = self._stream.decompress(compressed, len(buffer))  # which may hold back some for an empty input
            if not compressed and not data and not self._stream.eof:
                raise zipfile.BadZipFile(f"the data of {self._info.filename!r} ends within its stream")
        self._size += len(data)
        self._crc = zlib.crc32(data, self._crc)
        if self._size > self._info.file_size or (not data and not self._is_whole()):
            raise zipfile.BadZipFile(f"the data of {self._info.filename!r} is not what its header says")
        buffer[: len(data)] = data
        return len(data)

    def _take(self) -> bytes:
        data = os.pread(self._descriptor, min(_CHUNK, self._end - self._place), self._place)
        self._place += len(data)
        return data

    def _is_whole(self) -> bool:
        ended = self._place == self._end and not self._stream.unused_data
        return ended and (self._size, self._crc) == (self._info.file_size, self._info.CRC)
