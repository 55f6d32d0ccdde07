# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read parts of a file by bounds, decompressed where needed, in small portions.

Whatever sizes a hostile file claims, nothing beyond a part is read, and no more is held in memory than is asked for.
"""

from __future__ import annotations

import sys
import zlib
from dataclasses import dataclass, field
from typing import BinaryIO

from pjrtwheel.errors import ElfError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_ZLIB = 0
_ZSTD = 1
_PORTION = 1 << 20
_DAMAGE = (zlib.error, zstd.ZstdError, EOFError)


@dataclass(frozen=True, slots=True)
class Window:
    """A range of bytes of an open file; messages call it `where`."""

    file: BinaryIO
    start: int
    size: int
    where: str

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes of the window.

        Raises:
            ElfError: They lie beyond its end.
        """
        if offset < 0 or length < 0 or offset + length > self.size:
            raise self.damaged(f"it ends at {self.size}, {length} bytes at {offset} are needed")
        self.file.seek(self.start + offset)
        return self.file.read(length)

    def narrow(self, offset: int, size: int) -> Window:
        """Return a window inside this one.

        Raises:
            ElfError: It would reach beyond the end of this one.
        """
        if offset < 0 or size < 0 or offset + size > self.size:
            raise self.damaged(f"it ends at {self.size}, a part claims {size} bytes at {offset}")
        return Window(self.file, self.start + offset, size, self.where)

    def damaged(self, cause: str) -> ElfError:
        """Return the error that says why the window cannot be read."""
        return ElfError(f"{self.where} is damaged: {cause}", remedy="fetch the library again")


class _ZlibDecompressor:
    """zlib's decompressor with the interface of Zstandard's: it keeps what it did not use."""

    def __init__(self) -> None:
        """Begin a stream."""
        self._inner = zlib.decompressobj()

    @property
    def needs_input(self) -> bool:
        """Whether there is no output left of the input so far."""
        return not self._inner.unconsumed_tail

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return up to `max_length` bytes of output."""
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


@dataclass(slots=True)
class InflatedBytes:
    """Bytes that are decompressed as far as they are asked for.

    Attributes:
        size: How many bytes should come out.
        taken: How many compressed bytes were read.
        position: How many bytes have come out and were dropped; `buffer` has those after them.
    """

    window: Window
    decompressor: _ZlibDecompressor | zstd.ZstdDecompressor
    size: int
    taken: int = 0
    position: int = 0
    buffer: bytearray = field(default_factory=bytearray)

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes; all before them are dropped.

        Raises:
            ElfError: The compressed bytes are damaged, or end before that place.
        """
        if offset < self.position:
            raise self.window.damaged(f"parts of a bundle overlap at {offset}")
        while self.position + len(self.buffer) < offset + length:
            self._drop(offset)
            self._fill()
        self._drop(offset)
        return bytes(self.buffer[:length])

    def _drop(self, offset: int) -> None:
        count = min(offset - self.position, len(self.buffer))
        del self.buffer[:count]
        self.position += count

    def _fill(self) -> None:
        left = self.window.size - self.taken
        length = min(_PORTION, left) if self.decompressor.needs_input else 0
        data = self.window.read(self.taken, length)
        self.taken += length
        try:
            portion = self.decompressor.decompress(data, _PORTION)
        except _DAMAGE as error:
            raise self.window.damaged(f"a compressed bundle cannot be read: {error}") from error
        if not portion and not data and self.decompressor.needs_input:
            raise self.window.damaged(f"a compressed bundle ends after {self.position + len(self.buffer)} bytes")
        self.buffer += portion


def open_compressed(window: Window, method: int, size: int) -> InflatedBytes:
    """Return the content of compressed bytes, of which `size` should come out.

    The method is 0 for zlib and 1 for Zstandard, as in llvm::compression::Format.

    Raises:
        ElfError: There is no such method.
    """
    if method == _ZLIB:
        return InflatedBytes(window, _ZlibDecompressor(), size)
    if method == _ZSTD:
        return InflatedBytes(window, zstd.ZstdDecompressor(), size)
    raise window.damaged(f"a bundle is compressed by method {method}, known are zlib (0) and Zstandard (1)")
