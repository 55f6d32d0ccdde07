# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The dynamic symbols of a library. A kernel has hundreds and a wheel has dozens of those, so they are read at once."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile

from pjrtwheel.elf import layout
from pjrtwheel.elf.layout import SectionHeader

_SYMBOL = struct.Struct("<IBBHQQ")  # Elf64_Sym
_LOCAL = 0
_VISIBLE = {0, 3}  # default and protected
_UNDEFINED = 0
_ABSOLUTE = 0xFFF1

# Bounds of a section, which the linker defines in every library that holds protobuf's code; each finds its own first.
LINKER_DEFINED = frozenset({"__start_pb_defaults", "__stop_pb_defaults"})


@dataclass(frozen=True, slots=True)
class Symbol:
    """One entry of the dynamic symbol table.

    Attributes:
        name: Its name.
        name_offset: Where that stands in the table of names.
        exported: Whether other libraries can bind to it.
    """

    name: str
    name_offset: int
    exported: bool


def read_symbols(file: BinaryIO, sections: Sequence[SectionHeader]) -> tuple[Symbol, ...]:
    """Read the dynamic symbol tables.

    Args:
        file: The library, open for reading.
        sections: Its section headers, which lie within the file.

    Raises:
        ValueError: A table has entries of another size, or names that lie outside of their table.
        IndexError: A table of names is missing.
    """
    tables = (section for section in sections if section.type == layout.SHT_DYNSYM)
    return tuple(symbol for table in tables for symbol in _read_table(file, table, sections[table.link]))


def read_unlisted_exports(file: BinaryIO) -> tuple[str, ...]:
    """Return the names that a library without section headers exports.

    The table is found through the dynamic segment, its length through the hash table: pyelftools knows how.
    """
    file.seek(0)
    elf = ELFFile(file)
    tables = [segment for segment in elf.iter_segments() if isinstance(segment, DynamicSegment)]
    return tuple(
        symbol.name
        for table in tables
        for symbol in table.iter_symbols()
        if symbol.entry.st_shndx not in {"SHN_UNDEF", "SHN_ABS"}
        and symbol.entry.st_other["visibility"] in {"STV_DEFAULT", "STV_PROTECTED"}
        and symbol.entry.st_info["bind"] != "STB_LOCAL"
        and symbol.name
    )


def _read_table(file: BinaryIO, table: SectionHeader, names: SectionHeader) -> Iterator[Symbol]:
    """Yield the entries of one table."""
    if table.entsize != _SYMBOL.size or table.size % _SYMBOL.size:
        raise ValueError(f"symbols of {table.entsize} bytes in a table of {table.size}")
    strings = _read_section(file, names)
    for offset, info, other, index, _, _ in _SYMBOL.iter_unpack(_read_section(file, table)):
        end = strings.find(b"\0", offset)
        if not 0 <= offset <= end:
            raise ValueError(f"a symbol's name lies at {offset}, outside of its table")
        name = strings[offset:end].decode("utf-8", "surrogateescape")
        # A version node is itself an absolute symbol in files linked by GNU ld; nobody binds to it.
        defined = index not in {_UNDEFINED, _ABSOLUTE}
        exported = bool(name) and defined and info >> 4 != _LOCAL and other & 3 in _VISIBLE
        yield Symbol(name, offset, exported)


def _read_section(file: BinaryIO, section: SectionHeader) -> bytes:
    """Return the bytes of a section."""
    file.seek(section.offset)
    return file.read(section.file_size)
