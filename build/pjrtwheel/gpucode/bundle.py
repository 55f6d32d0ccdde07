# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The bundles of clang-offload-bundler, plain or compressed (Clang documentation, "Clang Offload Bundler")."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from pjrtwheel.gpucode.inflate import PlainBytes, Stream, open_compressed
from pjrtwheel.gpucode.window import Window

_PLAIN = b"__CLANG_OFFLOAD_BUNDLE__"
_COMPRESSED = b"CCOB"
_ALIGNMENT = 4096  # the runtime maps bundles, so each begins a page
_COUNT_AT = len(_PLAIN)
_MOST_ENTRIES = 1024  # there are some 60 chips
_LONGEST_NAME = 256

# Version → what follows magic and version in a compressed bundle: method, sizes of file and content, hash of the
# content. The first version does not say how long it is, so nothing behind it can be found; LLVM 18 wrote the last.
_HEADERS = {2: struct.Struct("<HIIQ"), 3: struct.Struct("<HQQQ")}
_HEADER_AT = 6


@dataclass(frozen=True, slots=True)
class Entry:
    """One part of a bundle: the code for one target."""

    name: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Bundle:
    """An opened bundle.

    Attributes:
        entries: Its parts, in the order of their bytes.
        stream: The bytes of the whole bundle, read forwards.
    """

    entries: tuple[Entry, ...]
    stream: Stream

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes of the bundle; what lies before them cannot be read again."""
        return self.stream.read_at(offset, length)


def open_bundles(window: Window) -> Iterator[Bundle]:
    """Yield each bundle of a section; it must be read before the next one is asked for.

    Raises:
        ElfError: A bundle is damaged or claims more bytes than there are.
    """
    position = 0
    while position < window.size:
        stream, length = _open(window, position)
        bundle = Bundle(_read_entries(stream, window), stream)
        yield bundle
        length = length or max((entry.offset + entry.size for entry in bundle.entries), default=_COUNT_AT)
        position = -(-(position + length) // _ALIGNMENT) * _ALIGNMENT


def _open(window: Window, position: int) -> tuple[Stream, int]:
    """Return the bytes of the bundle at a position, and its length if it is known by now."""
    start = window.read(position, min(_COUNT_AT, window.size - position))
    rest = window.narrow(position, window.size - position)
    if start == _PLAIN:
        return PlainBytes(rest), 0
    if not start.startswith(_COMPRESSED):
        raise window.damaged(f"there is no offload bundle at {position:#x}, but {start[:8]!r}")
    (version,) = struct.unpack("<H", rest.read(len(_COMPRESSED), 2))
    header = _HEADERS.get(version)
    if header is None:
        raise window.damaged(f"the compressed bundle at {position:#x} has format {version}, known are 2 and 3")
    method, size, content, _ = header.unpack(rest.read(_HEADER_AT, header.size))
    begin = _HEADER_AT + header.size
    if not begin < size <= rest.size:
        raise window.damaged(f"the bundle at {position:#x} claims {size} bytes, {rest.size} are left")
    return open_compressed(rest.narrow(begin, size - begin), method, content), size


def _read_entries(stream: Stream, window: Window) -> tuple[Entry, ...]:
    """Read the table at the start of a bundle."""
    if stream.read_at(0, _COUNT_AT) != _PLAIN:
        raise window.damaged("a compressed bundle holds no bundle")
    (count,) = struct.unpack("<Q", stream.read_at(_COUNT_AT, 8))
    if not 0 < count <= _MOST_ENTRIES:
        raise window.damaged(f"a bundle claims {count} entries")
    position, entries = _COUNT_AT + 8, []
    for _ in range(count):
        offset, size, length = struct.unpack("<QQQ", stream.read_at(position, 24))
        if length > _LONGEST_NAME or offset + size > stream.size:
            raise window.damaged(f"an entry of a bundle claims a name of {length} and code of {size} bytes at {offset}")
        name = stream.read_at(position + 24, length).decode("utf-8", "replace")
        entries.append(Entry(name, offset, size))
        position += 24 + length
    return tuple(sorted(entries, key=lambda entry: entry.offset))
