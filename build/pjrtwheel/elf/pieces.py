# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A repaired file as a list of pieces: ranges copied from the input, and bytes that replace or follow them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO


@dataclass(frozen=True, slots=True)
class Span:
    """A range of the input that is copied as it is."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes that take the place of as many bytes of the input."""

    offset: int
    data: bytes


Piece = Span | bytes


def cut(span: Span, edits: Iterable[Edit]) -> tuple[Piece, ...]:
    """Lay edits over a range of the input; none may overlap another, and those outside the range do not count.

    >>> cut(Span(0, 10), [Edit(4, b"ab")])
    (Span(start=0, stop=4), b'ab', Span(start=6, stop=10))
    """
    pieces: list[Piece] = []
    position = span.start
    for edit in sorted(edits, key=lambda edit: edit.offset):
        if span.start <= edit.offset and edit.offset + len(edit.data) <= span.stop:
            if position < edit.offset:
                pieces.append(Span(position, edit.offset))
            pieces.append(edit.data)
            position = edit.offset + len(edit.data)
    if position < span.stop:
        pieces.append(Span(position, span.stop))
    return tuple(pieces)


def total_size(pieces: Iterable[Piece]) -> int:
    """Return the length of the file that the pieces make."""
    return sum(piece.stop - piece.start if isinstance(piece, Span) else len(piece) for piece in pieces)


def read_chunks(file: BinaryIO, pieces: Sequence[Piece], size: int) -> Iterator[memoryview]:
    """Stream the file that the pieces make, in chunks of `size`, the last one shorter; each is in memory of its own."""
    remaining = total_size(pieces)
    source = _read_slices(file, pieces, size)
    pending = memoryview(b"")
    while remaining:
        chunk = bytearray(min(size, remaining))
        filled = 0
        while filled < len(chunk):
            if not pending:
                pending = next(source)
            taken = min(len(pending), len(chunk) - filled)
            chunk[filled : filled + taken] = pending[:taken]
            pending, filled = pending[taken:], filled + taken
        remaining -= filled
        yield memoryview(chunk)


def _read_slices(file: BinaryIO, pieces: Iterable[Piece], size: int) -> Iterator[memoryview]:
    for piece in pieces:
        if isinstance(piece, bytes):
            yield memoryview(piece)
            continue
        for start in range(piece.start, piece.stop, size):
            file.seek(start)
            wanted = min(size, piece.stop - start)
            data = file.read(wanted)
            if len(data) != wanted:
                raise EOFError(f"file ended at {start + len(data)}, expected {piece.stop}")
            yield memoryview(data)
