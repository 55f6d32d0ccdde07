# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read what repair needs to know about a shared library, and refuse files that are none.

The three header tables are read here, bounds first, because repair writes them back byte by byte; symbols and version
tables are read by pyelftools. Whatever a damaged file makes either of them trip over becomes an `ElfError`.
"""

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, TypeVar

from elftools.common.exceptions import ELFError
from elftools.construct import ConstructError
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerDefSection, GNUVerNeedSection
from elftools.elf.sections import Symbol, SymbolTableSection

from pjrtwheel.elf import layout
from pjrtwheel.elf.layout import FileHeader, SectionHeader, Segment
from pjrtwheel.errors import ElfError

_READ_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ConstructError,
    ELFError,
    LookupError,
    OSError,  # a seek to where no file can reach
    TypeError,
    ValueError,
    struct.error,
)
# Bounds of a section, which the linker defines in every library that holds protobuf's code; each finds its own first.
LINKER_DEFINED = frozenset({"__start_pb_defaults", "__stop_pb_defaults"})
_LARGEST_ALIGNMENT = 1 << 21
# DT_NEEDED, DT_SONAME, DT_CONFIG, DT_DEPAUDIT, DT_AUDIT, DT_AUXILIARY, DT_FILTER: their values are string offsets.
_NAME_TAGS = {1, 14, 0x6FFFFEFA, 0x6FFFFEFB, 0x6FFFFEFC, 0x7FFFFFFD, 0x7FFFFFFF}

_Entry = TypeVar("_Entry", Segment, SectionHeader)


@dataclass(frozen=True, slots=True)
class DynamicEntry:
    """One entry of the dynamic table."""

    tag: int
    value: int


@dataclass(frozen=True, slots=True)
class ElfImage:
    """What repair needs to know about one library, which messages call `where`.

    Attributes:
        machine: As in `Platform.machine`.
        sections: The section header table; empty when there is none.
        names: Section names, in step with `sections`.
        dynamic: The dynamic table up to its first null entry.
        dynstr: The dynamic string table.
        used_strings: Offsets in `dynstr` that anything but RPATH and RUNPATH refers to; None when not known.
        exports: Names of the dynamic symbols that the library defines, sorted.
    """

    where: str
    size: int
    machine: str
    header: FileHeader
    segments: tuple[Segment, ...]
    sections: tuple[SectionHeader, ...]
    names: tuple[str, ...]
    dynamic: tuple[DynamicEntry, ...]
    dynamic_offset: int
    dynstr: bytes
    dynstr_offset: int
    used_strings: frozenset[int] | None
    exports: tuple[str, ...]


def is_elf(start: bytes) -> bool:
    """Tell from its first bytes whether a file is an ELF file."""
    return start.startswith(layout.MAGIC)


def read_image(file: BinaryIO, where: str, *, machine: str | None = None) -> ElfImage:
    """Read a library, which messages call `where`; a machine is as in `Platform.machine`.

    Raises:
        ElfError: Not an ELF file, not 64-bit little-endian, not for the given machine, truncated or damaged.
    """
    size = file.seek(0, 2)
    header = _read_header(file, size, where, machine)
    segments = _read_table(Segment, file, size, where, header.phoff, header.phnum, header.phentsize)
    sections = _read_table(SectionHeader, file, size, where, header.shoff, header.shnum, header.shentsize)
    _check_bounds(segments, sections, size, where)
    _check_sense(header, sections, where)
    try:
        return _read_rest(file, size, where, header, segments, sections)
    except _READ_ERRORS as error:
        raise ElfError(
            f"{where} is a damaged ELF file", cause=f"{type(error).__name__}: {error}", remedy="fetch it again"
        ) from error


def _list_symbols(elf: ELFFile) -> tuple[Symbol, ...]:
    """Return the dynamic symbols, by the section that lists them, or else by the table that the loader finds."""
    tables: list[SymbolTableSection | DynamicSegment] = [
        section for section in elf.iter_sections("SHT_DYNSYM") if isinstance(section, SymbolTableSection)
    ]
    tables = tables or [segment for segment in elf.iter_segments() if isinstance(segment, DynamicSegment)]
    return tuple(symbol for table in tables for symbol in table.iter_symbols())


def _is_exported(symbol: Symbol) -> bool:
    """Whether other libraries can bind to a symbol; a version node is an absolute one, to which nobody binds."""
    return (
        bool(symbol.name)
        and symbol["st_shndx"] not in {"SHN_UNDEF", "SHN_ABS"}
        and symbol["st_info"]["bind"] != "STB_LOCAL"
        and symbol["st_other"]["visibility"] in {"STV_DEFAULT", "STV_PROTECTED"}
    )


def _read_header(file: BinaryIO, size: int, where: str, machine: str | None) -> FileHeader:
    file.seek(0)
    start = file.read(FileHeader.SIZE)
    if not is_elf(start):
        raise ElfError(f"{where} is not an ELF file", cause=f"it starts with {start[:4]!r}")
    if size < FileHeader.SIZE:
        raise _truncated(where, size, FileHeader.SIZE)
    if start[4] != layout.CLASS64 or start[5] != layout.LITTLE_ENDIAN:
        raise ElfError(f"{where} is not a 64-bit little-endian ELF file", cause="no platform of ours has other ones")
    header = FileHeader(*FileHeader.FORMAT.unpack(start[FileHeader.START :]))
    found = layout.MACHINES.get(header.machine, f"machine {header.machine}")
    expected = [machine] if machine else list(layout.MACHINES.values())
    if found not in expected:
        what = f"{where} is made for {found}, expected {' or '.join(expected)}"
        raise ElfError(what, cause="the library belongs to another platform")
    return header


def _read_table(
    kind: type[_Entry], file: BinaryIO, size: int, where: str, offset: int, count: int, stated: int
) -> tuple[_Entry, ...]:
    """Return the entries of a header table, checked against the end of the file before it is read."""
    entry = kind.FORMAT.size
    if count == 0:
        return ()
    if stated != entry:
        raise ElfError(f"{where} is a damaged ELF file", cause=f"header entries of {stated} bytes, expected {entry}")
    if offset + count * entry > size:
        raise _truncated(where, size, offset + count * entry)
    file.seek(offset)
    return tuple(kind(*values) for values in kind.FORMAT.iter_unpack(file.read(count * entry)))


def _check_bounds(segments: Iterable[Segment], sections: Iterable[SectionHeader], size: int, where: str) -> None:
    ends = [segment.offset + segment.filesz for segment in segments]
    ends += [section.offset + section.file_size for section in sections]
    if max(ends, default=0) > size:
        raise _truncated(where, size, max(ends))


def _check_sense(header: FileHeader, sections: tuple[SectionHeader, ...], where: str) -> None:
    """Refuse numbers that would send a reader far beyond what a file of this size can hold."""
    senseless = [section for section in sections if not _is_sensible(section)]
    names = sections[header.shstrndx] if 0 < header.shstrndx < len(sections) else None
    if senseless or (sections and (names is None or names.type != layout.SHT_STRTAB)):
        raise ElfError(
            f"{where} is a damaged ELF file", cause="its section headers contradict each other", remedy="fetch it again"
        )


def _is_sensible(section: SectionHeader) -> bool:
    power_of_two = section.addralign & (section.addralign - 1) == 0 if section.addralign else True
    versions = section.type in layout.VERSION_TABLES
    return power_of_two and section.addralign <= _LARGEST_ALIGNMENT and not (versions and section.info > section.size)


def _read_rest(
    file: BinaryIO,
    size: int,
    where: str,
    header: FileHeader,
    segments: tuple[Segment, ...],
    sections: tuple[SectionHeader, ...],
) -> ElfImage:
    file.seek(0)
    elf = ELFFile(file)
    symbols = _list_symbols(elf)
    segment = next((segment for segment in segments if segment.type == layout.PT_DYNAMIC), None)
    dynamic = tuple(_dynamic_entries(file, segment))
    strings_at, strings = _read_dynstr(file, elf, dynamic)
    return ElfImage(
        where=where,
        size=size,
        machine=layout.MACHINES[header.machine],
        header=header,
        segments=segments,
        sections=sections,
        names=tuple(section.name for section in elf.iter_sections()) if sections else (),
        dynamic=dynamic,
        dynamic_offset=segment.offset if segment else 0,
        dynstr=strings,
        dynstr_offset=strings_at,
        used_strings=_used_strings(elf, dynamic, symbols) if sections else None,
        exports=tuple(sorted({symbol.name for symbol in symbols if _is_exported(symbol)})),
    )


def _dynamic_entries(file: BinaryIO, segment: Segment | None) -> Iterator[DynamicEntry]:
    """Yield the raw entries of the dynamic table, without the closing null."""
    if segment is None:
        return
    file.seek(segment.offset)
    for tag, value in struct.iter_unpack("<qQ", file.read(segment.filesz)):
        if tag == layout.DT_NULL:
            return
        yield DynamicEntry(tag, value)


def _read_dynstr(file: BinaryIO, elf: ELFFile, dynamic: Iterable[DynamicEntry]) -> tuple[int, bytes]:
    """Find the dynamic string table by its address, as the dynamic loader does."""
    values = {entry.tag: entry.value for entry in dynamic}
    length = values.get(layout.DT_STRSZ, 0)
    for offset in elf.address_offsets(values.get(layout.DT_STRTAB, 0), length):
        file.seek(offset)
        return offset, file.read(length)
    return 0, b""


def _used_strings(elf: ELFFile, dynamic: Iterable[DynamicEntry], symbols: Iterable[Symbol]) -> frozenset[int]:
    """Collect every offset into the dynamic string table, except those of RPATH and RUNPATH."""
    used = {entry.value for entry in dynamic if entry.tag in _NAME_TAGS} | {symbol["st_name"] for symbol in symbols}
    for section in elf.iter_sections():
        if isinstance(section, GNUVerNeedSection):
            for need, names in section.iter_versions():
                used.add(need.entry.vn_file)
                used.update(name.entry.vna_name for name in names)
        elif isinstance(section, GNUVerDefSection):
            for _, names in section.iter_versions():
                used.update(name.entry.vda_name for name in names)
    return frozenset(used)


def _truncated(where: str, size: int, needed: int) -> ElfError:
    return ElfError(
        f"{where} is truncated: {size} bytes, its headers need {needed}",
        cause="the download or copy was cut short",
        remedy="fetch it again",
    )
