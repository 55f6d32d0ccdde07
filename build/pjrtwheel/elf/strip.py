# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Decide which sections a wheel does not need, and lay out the file without them.

No address changes, and no byte that the program headers describe. Most linkers put unneeded sections after all that;
where a tool has appended loaded bytes later, these move up by whole pages, so that the loader maps them as before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pjrtwheel.elf import layout
from pjrtwheel.elf.image import ElfImage
from pjrtwheel.elf.layout import FileHeader, Piece, SectionHeader, Segment, Span, largest_page

_UNNEEDED_NAMES = {".comment", ".gnu_debuglink", ".gnu_debugaltlink", ".gdb_index", ".llvm_addrsig"}
_UNNEEDED_PREFIXES = (".debug_", ".zdebug_")
_TABLE_ALIGNMENT = 8


@dataclass(frozen=True, slots=True)
class Stripped:
    """The layout of a library without its unneeded sections, which `dropped` names.

    Attributes:
        kept: What is kept of the part that the program headers describe.
        tail: What follows it.
    """

    kept: tuple[Span, ...]
    tail: tuple[Piece, ...]
    header: FileHeader
    segments: tuple[Segment, ...]
    dropped: tuple[str, ...]


def strip(image: ElfImage) -> Stripped:
    """Lay out a library without symbol tables, comments and debug information."""
    end = _loaded_end(image)
    unneeded = _unneeded(image)
    gaps = _gaps(image, unneeded, end)
    dropped = {
        index
        for index, section in ((index, image.sections[index]) for index in unneeded)
        if section.offset >= end or any(section.offset in gap for gap in gaps)
    }
    if not dropped:
        return Stripped((Span(0, image.size),), (), image.header, image.segments, ())
    kept = _close_gaps(gaps, end)
    header, tail = _lay_out_tail(image, dropped, gaps, end)
    header = replace(header, phoff=_moved(header.phoff, gaps))
    segments = tuple(replace(segment, offset=_moved(segment.offset, gaps)) for segment in image.segments)
    return Stripped(kept, tail, header, segments, tuple(image.names[index] for index in sorted(dropped)))


def _gaps(image: ElfImage, unneeded: set[int], end: int) -> tuple[range, ...]:
    """Return the ranges before `end` that hold nothing but unneeded sections, cut to whole pages.

    What is left of a gap behind the last whole page is not worth a rule of its own and stays as it is.
    """
    needed = [(0, FileHeader.SIZE), (image.header.phoff, image.header.phoff + _table_size(image))]
    needed += [(segment.offset, segment.offset + segment.filesz) for segment in image.segments if segment.filesz]
    needed += [
        (section.offset, section.offset + section.file_size)
        for index, section in enumerate(image.sections)
        if section.file_size and index not in unneeded and index != image.header.shstrndx
    ]
    page = max([largest_page(image.machine), *(segment.align for segment in image.segments)])
    found: list[range] = []
    position = 0
    for start, stop in sorted(needed):
        if start >= end:
            break
        gap = range(position, start - (start - position) % page)
        if any(image.sections[index].file_size and image.sections[index].offset in gap for index in unneeded):
            found.append(gap)
        position = max(position, stop)
    return tuple(found)


def _close_gaps(gaps: tuple[range, ...], end: int) -> tuple[Span, ...]:
    starts = (0, *(gap.stop for gap in gaps))
    stops = (*(gap.start for gap in gaps), end)
    return tuple(Span(start, stop) for start, stop in zip(starts, stops, strict=True))


def _moved(offset: int, gaps: tuple[range, ...]) -> int:
    return offset - sum(len(gap) for gap in gaps if gap.stop <= offset)


def _loaded_end(image: ElfImage) -> int:
    ends = [FileHeader.SIZE, image.header.phoff + _table_size(image)]
    ends += [segment.offset + segment.filesz for segment in image.segments if segment.filesz]
    ends += [section.offset + section.file_size for section in image.sections if section.flags & layout.SHF_ALLOC]
    return max(ends)


def _table_size(image: ElfImage) -> int:
    return image.header.phnum * Segment.FORMAT.size


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
    image: ElfImage, dropped: set[int], gaps: tuple[range, ...], end: int
) -> tuple[FileHeader, tuple[Piece, ...]]:
    """Place the remaining unloaded sections, the section names and the section headers behind the loaded bytes."""
    kept = _kept_indices(image, dropped)
    names, name_offsets = _pack_names([image.names[index] for index in kept if index])
    tail: list[Piece] = []
    position = _moved(end, gaps)
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
            headers.append(replace(section, offset=_moved(section.offset, gaps)))
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
    table = bytearray(b"\0")
    offsets: dict[str, int] = {}
    for name in names:
        if name not in offsets:
            offsets[name] = len(table)
            table += name.encode("utf-8", "surrogateescape") + b"\0"
    return bytes(table), offsets
