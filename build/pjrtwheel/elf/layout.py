# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The fixed-size records of 64-bit little-endian ELF files (generic ABI, chapters 4 and 5), and pieces of files.

A repaired file is a list of pieces: ranges copied from the input, and bytes that replace or follow them.
"""

import struct
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import BinaryIO, ClassVar

MAGIC = b"\x7fELF"
CLASS64 = 2
LITTLE_ENDIAN = 1

ET_EXEC = 2
ET_DYN = 3
MACHINES = {62: "EM_X86_64", 183: "EM_AARCH64"}

PT_LOAD = 1
PT_DYNAMIC = 2
PT_GNU_STACK = 0x6474E551
PF_X = 1

SHT_NULL = 0
SHT_SYMTAB = 2
SHT_STRTAB = 3
SHT_RELA = 4
SHT_NOBITS = 8
SHT_REL = 9
VERSION_TABLES = {0x6FFFFFFD, 0x6FFFFFFE}  # SHT_GNU_verdef, SHT_GNU_verneed: sh_info counts their entries
SHF_ALLOC = 0x2

DT_NULL = 0
DT_STRTAB = 5
DT_STRSZ = 10
DT_RPATH = 15
DT_RUNPATH = 29


@dataclass(frozen=True, slots=True)
class _Record:
    """A record of fixed size, packed in the order of its attributes."""

    FORMAT: ClassVar[struct.Struct]

    def pack(self) -> bytes:
        """Return the bytes of the record."""
        return self.FORMAT.pack(*astuple(self))


@dataclass(frozen=True, slots=True)
class FileHeader(_Record):
    """The 48 bytes of `Elf64_Ehdr` that follow the identification bytes."""

    FORMAT: ClassVar[struct.Struct] = struct.Struct("<HHIQQQIHHHHHH")
    START: ClassVar[int] = 16
    SIZE: ClassVar[int] = 64

    type: int
    machine: int
    version: int
    entry: int
    phoff: int
    shoff: int
    flags: int
    ehsize: int
    phentsize: int
    phnum: int
    shentsize: int
    shnum: int
    shstrndx: int


@dataclass(frozen=True, slots=True)
class Segment(_Record):
    """`Elf64_Phdr`."""

    FORMAT: ClassVar[struct.Struct] = struct.Struct("<IIQQQQQQ")

    type: int
    flags: int
    offset: int
    vaddr: int
    paddr: int
    filesz: int
    memsz: int
    align: int


@dataclass(frozen=True, slots=True)
class SectionHeader(_Record):
    """`Elf64_Shdr`."""

    FORMAT: ClassVar[struct.Struct] = struct.Struct("<IIQQQQIIQQ")

    name: int
    type: int
    flags: int
    addr: int
    offset: int
    size: int
    link: int
    info: int
    addralign: int
    entsize: int

    @property
    def file_size(self) -> int:
        """Bytes the section takes in the file; none for `.bss` and its like."""
        return 0 if self.type in {SHT_NULL, SHT_NOBITS} else self.size


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


def read_pieces(file: BinaryIO, pieces: Sequence[Piece]) -> bytearray:
    """Return the file that the pieces make.

    Raises:
        EOFError: The input ends within one of them.
    """
    made = bytearray(total_size(pieces))
    rest = memoryview(made)
    for piece in pieces:
        length = total_size([piece])
        if isinstance(piece, bytes):
            rest[:length] = piece
        else:
            file.seek(piece.start)
            found = file.readinto(rest[:length])  # type: ignore[attr-defined]
            if found != length:
                raise EOFError(f"file ended at {piece.start + found}, expected {piece.stop}")
        rest = rest[length:]
    return made
