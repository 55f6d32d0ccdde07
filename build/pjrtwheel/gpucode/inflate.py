# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read bytes forwards, through a decompressor where needed, in small and bounded portions."""

from __future__ import annotations

import sys
import zlib
from dataclasses import dataclass, field
from typing import Protocol

from pjrtwheel.gpucode.window import Window

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_ZLIB = 0
_ZSTD = 1
_PORTION = 1 << 20
_DAMAGE = (zlib.error, zstd.ZstdError, EOFError)


class Stream(Protocol):
    """Bytes that are read once, from the first to the last."""

    @property
    def size(self) -> int:
        """How many bytes there are, or claim to be."""

    def read_at(self, offset: int, length: int) -> bytes:
        """Return bytes; a later call must not ask for an earlier place."""


class Decompressor(Protocol):
    """What decompressors of the standard library have in common, with zlib brought into line."""

    @property
    def needs_input(self) -> bool:
        """Whether there is no output left of the input so far."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return up to `max_length` bytes of output."""


@dataclass(frozen=True, slots=True)
class PlainBytes:
    """Bytes that are not compressed."""

    window: Window

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return self.window.size

    def read_at(self, offset: int, length: int) -> bytes:
        """Return bytes of the window."""
        return self.window.read(offset, length)


@dataclass(slots=True)
class InflatedBytes:
    """Bytes that are decompressed as far as they are asked for.

    Attributes:
        window: The compressed bytes.
        decompressor: Reads them.
        size: How many bytes should come out.
        taken: How many compressed bytes were read.
        position: How many bytes have come out and were dropped.
        buffer: The bytes after them.
    """

    window: Window
    decompressor: Decompressor
    size: int
    taken: int = 0
    position: int = 0
    buffer: bytearray = field(default_factory=bytearray)

    def read_at(self, offset: int, length: int) -> bytes:
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
        """Forget bytes before a place."""
        count = min(offset - self.position, len(self.buffer))
        del self.buffer[:count]
        self.position += count

    def _fill(self) -> None:
        """Decompress one more portion."""
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


class ZlibDecompressor:
    """zlib's decompressor, which hands back what it did not use, as one that keeps it."""

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


def open_compressed(window: Window, method: int, size: int) -> Stream:
    """Return the content of compressed bytes.

    Args:
        window: The compressed bytes.
        method: 0 for zlib, 1 for Zstandard, as in llvm::compression::Format.
        size: How many bytes should come out.

    Raises:
        ElfError: There is no such method.
    """
    if method == _ZLIB:
        return InflatedBytes(window, ZlibDecompressor(), size)
    if method == _ZSTD:
        return InflatedBytes(window, zstd.ZstdDecompressor(), size)
    raise window.damaged(f"a bundle is compressed by method {method}, known are zlib (0) and Zstandard (1)")
