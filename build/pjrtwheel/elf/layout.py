# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The fixed-size records of 64-bit little-endian ELF files (generic ABI, chapters 4 and 5)."""

from __future__ import annotations

import struct
from dataclasses import astuple, dataclass
from typing import ClassVar, Self

MAGIC = b"\x7fELF"
CLASS64 = 2
LITTLE_ENDIAN = 1

ET_EXEC = 2
ET_DYN = 3
MACHINES = {62: "EM_X86_64", 183: "EM_AARCH64"}

# The largest page a kernel of the machine may use; where it is 4 KiB every linker gets it right.
_LARGEST_PAGE = {"EM_AARCH64": 0x10000}
SMALLEST_PAGE = 0x1000

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
SHT_DYNSYM = 11
VERSION_TABLES = {0x6FFFFFFD, 0x6FFFFFFE}  # SHT_GNU_verdef, SHT_GNU_verneed: sh_info counts their entries
SHF_ALLOC = 0x2
SHF_INFO_LINK = 0x40

DT_NULL = 0
DT_STRTAB = 5
DT_STRSZ = 10
DT_RPATH = 15
DT_RUNPATH = 29


@dataclass(frozen=True, slots=True)
class _Record:
    """A record of fixed size, packed and unpacked in the order of its attributes."""

    FORMAT: ClassVar[struct.Struct]

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """Read the record."""
        return cls(*cls.FORMAT.unpack(data))

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


def largest_page(machine: str) -> int:
    """Return the size of the largest page that a kernel of this machine may use."""
    return _LARGEST_PAGE.get(machine, SMALLEST_PAGE)
