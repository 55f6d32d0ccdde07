# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Decide all that is changed in one library: values in, values out.

Unneeded sections go, as linkers put them: behind the bytes that the program headers describe, none of which changes or
moves.
"""

import fnmatch
import json
import os.path
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pjrtwheel.elf import layout
from pjrtwheel.elf.image import LINKER_DEFINED, ElfImage
from pjrtwheel.elf.layout import Edit, FileHeader, Piece, SectionHeader, Segment, Span, cut, total_size
from pjrtwheel.elf.search_paths import ANYWHERE, LibraryPlace, repair_search_paths
from pjrtwheel.errors import ElfError, describe_size, shorten

_UNNEEDED_NAMES = {".comment", ".gnu_debuglink", ".gnu_debugaltlink", ".gdb_index", ".llvm_addrsig"}
_UNNEEDED_PREFIXES = (".debug_", ".zdebug_")
_TABLE_ALIGNMENT = 8
_LISTED = 5  # symbols in a message


@dataclass(frozen=True, slots=True)
class Stripped:
    """The layout of a library without its unneeded sections, which `dropped` names.

    Attributes:
        loaded: The part that the program headers describe.
        tail: What follows it.
    """

    loaded: Span
    tail: tuple[Piece, ...]
    header: FileHeader
    dropped: tuple[str, ...]


def strip(image: ElfImage, *, symbols: bool = False) -> Stripped:
    """Lay out a library without symbol tables, comments and debug information, unless it keeps its `symbols`."""
    end = _loaded_end(image)
    dropped = {index for index in _unneeded(image) if image.sections[index].offset >= end and not symbols}
    if not dropped:
        return Stripped(Span(0, image.size), (), image.header, ())
    header, tail = _lay_out_tail(image, dropped, end)
    return Stripped(Span(0, end), tail, header, tuple(image.names[index] for index in sorted(dropped)))


def _loaded_end(image: ElfImage) -> int:
    ends = [FileHeader.SIZE, image.header.phoff + image.header.phnum * Segment.FORMAT.size]
    ends += [segment.offset + segment.filesz for segment in image.segments if segment.filesz]
    ends += [section.offset + section.file_size for section in image.sections if section.flags & layout.SHF_ALLOC]
    return max(ends)


def _unneeded(image: ElfImage) -> set[int]:
    unneeded = {
        index
        for index, (section, name) in enumerate(zip(image.sections, image.names, strict=True))
        if not section.flags & layout.SHF_ALLOC
        and (section.type == layout.SHT_SYMTAB or name in _UNNEEDED_NAMES or name.startswith(_UNNEEDED_PREFIXES))
    }
    tables = {image.sections[index].link for index in unneeded if image.sections[index].type == layout.SHT_SYMTAB}
    users = {section.link for index, section in enumerate(image.sections) if index not in unneeded}
    # The names of sections are written anew, so their old table goes even where it is shared with the symbols.
    loaded = {index for index, section in enumerate(image.sections) if section.flags & layout.SHF_ALLOC}
    unneeded |= {index for index in tables if index < len(image.sections)} - users - loaded - {0, image.header.shstrndx}
    relocations = {layout.SHT_REL, layout.SHT_RELA}
    unneeded |= {
        index
        for index, section in enumerate(image.sections)
        if section.type in relocations and index not in loaded and section.info in unneeded
    }
    return unneeded - {image.header.shstrndx}  # whatever a damaged file calls it


def _lay_out_tail(image: ElfImage, dropped: set[int], end: int) -> tuple[FileHeader, tuple[Piece, ...]]:
    """Place the remaining unloaded sections, the section names and the section headers behind the loaded bytes.

    Symbols name their section by index. A dropped section leaves a null entry behind, so that the indices in the
    dynamic symbol table, which is not touched, stay true.
    """
    gone = dropped | {0}
    names, name_offsets = _pack_names([name for index, name in enumerate(image.names) if index not in gone])
    tail: list[Piece] = []
    position = end
    headers: list[SectionHeader] = []
    for index, old in enumerate(image.sections):
        if index in gone:
            headers.append(SectionHeader(*[0] * 10))
            continue
        section = replace(old, name=name_offsets[image.names[index]], link=0 if old.link in dropped else old.link)
        if index == image.header.shstrndx:
            section = replace(section, offset=position, size=len(names), addralign=1)
            tail.append(names)
            position += section.size
        elif section.offset >= end and section.file_size:
            padding = -position % max(section.addralign, 1)
            tail += [bytes(padding), Span(section.offset, section.offset + section.file_size)]
            section = replace(section, offset=position + padding)
            position += padding + section.size
        headers.append(section)
    padding = -position % _TABLE_ALIGNMENT
    tail.append(bytes(padding) + b"".join(header.pack() for header in headers))
    return replace(image.header, shoff=position + padding), tuple(piece for piece in tail if piece)


def _pack_names(names: list[str]) -> tuple[bytes, dict[str, int]]:
    table = bytearray(b"\0")
    offsets: dict[str, int] = {}
    for name in names:
        if name not in offsets:
            offsets[name] = len(table)
            table += name.encode("utf-8", "surrogateescape") + b"\0"
    return bytes(table), offsets


@dataclass(frozen=True, slots=True)
class RepairPlan:
    """How to write the repaired library.

    Attributes:
        pieces: What the repaired file is made of, in order.
        dropped_bytes: How much shorter it is.
        changes: What is changed, in words.
    """

    pieces: tuple[Piece, ...]
    size: int
    dropped_bytes: int
    changes: tuple[str, ...]


def plan_repair(image: ElfImage, place: LibraryPlace = ANYWHERE) -> RepairPlan:
    """Plan the repair of a library that will lie at `place`; object files are left as they are.

    Raises:
        ElfError: A search path leads out of the wheel and cannot be changed in place.
    """
    if image.header.type not in {layout.ET_DYN, layout.ET_EXEC}:
        return RepairPlan((Span(0, image.size),), image.size, 0, ())
    stripped = strip(image, symbols=place.symbols)
    search_edits, search_changes = repair_search_paths(image, place)
    segments = [replace(segment, flags=_stack_flags(segment)) for segment in image.segments]
    stack_changes = ("cleared the executable-stack flag",) if segments != list(image.segments) else ()
    table = b"".join(segment.pack() for segment in segments)
    edits = (Edit(FileHeader.START, stripped.header.pack()), Edit(image.header.phoff, table), *search_edits)
    pieces = (*cut(stripped.loaded, edits), *stripped.tail)
    size = total_size(pieces)
    strip_changes = [f"dropped {', '.join(stripped.dropped)} ({describe_size(image.size - size)})"]
    changes = (*strip_changes[: len(stripped.dropped)], *search_changes, *stack_changes)
    return RepairPlan(pieces, size, image.size - size, changes)


def _stack_flags(segment: Segment) -> int:
    """Return the flags of a segment, without the one that makes the stack executable."""
    return segment.flags & ~layout.PF_X if segment.type == layout.PT_GNU_STACK else segment.flags


def check_exports(image: ElfImage, wanted: Sequence[str]) -> None:
    """Hold the exported symbols of a plugin library to those of its backend, which may be patterns, as `foo_*`.

    Raises:
        ElfError: A symbol is missing, or there are symbols beyond the list and those of the linker.
    """
    if missing := [pattern for pattern in wanted if not fnmatch.filter(image.exports, pattern)]:
        exported = ", ".join(image.exports[:5]) or "nothing"
        raise ElfError(
            f"{image.where} exports no {', '.join(missing)}",
            cause=f"it exports {exported}, so it is not this backend's PJRT plugin, or lacks a part of it",
            remedy="give the library that JAX ships for it, or correct exports in backend.toml",
        )
    permitted = (*wanted, *LINKER_DEFINED)
    extra = [name for name in image.exports if not any(fnmatch.fnmatchcase(name, pattern) for pattern in permitted)]
    if extra:
        prefix = os.path.commonprefix(extra)  # noqa: RUF071 - of letters, as is meant
        more = extra if len(extra) <= _LISTED else [f"{prefix}*"]
        raise ElfError(
            f"{image.where} exports symbols beyond its allow-list: {shorten(extra, _LISTED)}",
            cause="it was linked without a version script, and could collide with other libraries of the process",
            remedy=f"link it with a version script, or write in backend.toml: exports = {json.dumps([*wanted, *more])}",
        )
