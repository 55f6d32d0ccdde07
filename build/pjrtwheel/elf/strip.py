# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Decide which sections a wheel does not need, and lay out the file without them.

Only bytes behind everything that the program headers describe are ever left out: what the dynamic loader maps stays
where it is, byte for byte, so no address and no offset inside the program changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pjrtwheel.elf import layout
from pjrtwheel.elf.image import ElfImage
from pjrtwheel.elf.layout import FileHeader, SectionHeader
from pjrtwheel.elf.pieces import Edit, Piece, Span

_UNNEEDED_NAMES = {".comment", ".gnu_debuglink", ".gnu_debugaltlink", ".gdb_index", ".llvm_addrsig"}
_UNNEEDED_PREFIXES = (".debug_", ".zdebug_")
_TABLE_ALIGNMENT = 8


@dataclass(frozen=True, slots=True)
class Stripped:
    """The layout of a library without its unneeded sections.

    Attributes:
        kept_end: The input is kept up to here.
        tail: What follows it.
        edits: Changes to the kept part: the file header.
        dropped: Names of the sections left out.
        stuck: Names of unneeded sections that lie before loaded bytes and therefore stay.
    """

    kept_end: int
    tail: tuple[Piece, ...]
    edits: tuple[Edit, ...]
    dropped: tuple[str, ...]
    stuck: tuple[str, ...]


def strip(image: ElfImage) -> Stripped:
    """Lay out a library without symbol tables, comments and debug information."""
    end = loaded_end(image)
    unneeded = _unneeded(image)
    dropped = {index for index in unneeded if image.sections[index].offset >= end}
    stuck = tuple(image.names[index] for index in sorted(unneeded - dropped))
    if not dropped:
        return Stripped(image.size, (), (), (), stuck)
    kept = _kept_indices(image, dropped)
    header, tail = _lay_out_tail(image, kept, dropped, end)
    edit = Edit(FileHeader.START, header.pack())
    return Stripped(end, tail, (edit,), tuple(image.names[index] for index in sorted(dropped)), stuck)


def loaded_end(image: ElfImage) -> int:
    """Return the offset behind the last byte that a header, a segment or a loaded section describes."""
    ends = [FileHeader.SIZE, image.header.phoff + image.header.phnum * layout.Segment.FORMAT.size]
    ends += [segment.offset + segment.filesz for segment in image.segments if segment.filesz]
    ends += [section.offset + section.file_size for section in image.sections if section.flags & layout.SHF_ALLOC]
    return max(ends)


def _unneeded(image: ElfImage) -> set[int]:
    """Return the indices of sections that nothing reads at run time."""
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
    return unneeded | {
        index
        for index, section in enumerate(image.sections)
        if section.type in relocations and index not in loaded and section.info in unneeded
    }


def _kept_indices(image: ElfImage, dropped: set[int]) -> tuple[int | None, ...]:
    """Choose the new section header table as old indices, None for a null entry.

    Symbols name their section by index. A dropped section before a loaded one leaves a null entry behind, so that the
    indices in the dynamic symbol table, which is not touched, stay true.
    """
    last_loaded = max(
        (index for index, section in enumerate(image.sections) if section.flags & layout.SHF_ALLOC), default=0
    )
    head = (None if index in dropped else index for index in range(last_loaded + 1))
    return (*head, *(index for index in range(last_loaded + 1, len(image.sections)) if index not in dropped))


def _lay_out_tail(
    image: ElfImage, kept: tuple[int | None, ...], dropped: set[int], end: int
) -> tuple[FileHeader, tuple[Piece, ...]]:
    """Place the remaining unloaded sections, the section names and the section headers behind the loaded bytes."""
    names, name_offsets = _pack_names([image.names[index] for index in kept if index])
    tail: list[Piece] = []
    position = end
    headers: list[SectionHeader] = []
    renumbered = {old: new for new, old in enumerate(kept) if old is not None}
    for index in kept:
        if index is None or index == 0:
            headers.append(SectionHeader(*[0] * 10))
            continue
        section = _renumber(image.sections[index], renumbered, dropped)
        section = replace(section, name=name_offsets[image.names[index]])
        if index == image.header.shstrndx:
            section = replace(section, offset=position, size=len(names), addralign=1)
            tail.append(names)
        elif section.offset >= end and section.file_size:
            padding = -position % max(section.addralign, 1)
            tail += [bytes(padding), Span(section.offset, section.offset + section.file_size)]
            position += padding
            section = replace(section, offset=position)
        else:
            headers.append(section)
            continue
        position += section.size
        headers.append(section)
    padding = -position % _TABLE_ALIGNMENT
    tail.append(bytes(padding) + b"".join(header.pack() for header in headers))
    header = replace(
        image.header, shoff=position + padding, shnum=len(headers), shstrndx=renumbered[image.header.shstrndx]
    )
    return header, tuple(piece for piece in tail if piece)


def _renumber(section: SectionHeader, renumbered: dict[int, int], dropped: set[int]) -> SectionHeader:
    """Translate the section indices in a section header; those of dropped sections become 0."""
    link = 0 if section.link in dropped else renumbered.get(section.link, section.link)
    points = section.flags & layout.SHF_INFO_LINK or section.type in {layout.SHT_REL, layout.SHT_RELA}
    info = renumbered.get(section.info, 0) if points else section.info
    return replace(section, link=link, info=info)


def _pack_names(names: list[str]) -> tuple[bytes, dict[str, int]]:
    """Return a string table and the offset of each name in it."""
    table = bytearray(b"\0")
    offsets: dict[str, int] = {}
    for name in names:
        if name not in offsets:
            offsets[name] = len(table)
            table += name.encode("utf-8", "surrogateescape") + b"\0"
    return bytes(table), offsets
