# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Decide all that is changed in one library: values in, values out.

Unneeded sections go, as linkers put them: behind the bytes that the program headers describe, none of which changes or
moves. Search paths (RPATH and RUNPATH) lose what is of no use where the library will lie, within the bytes they take.
"""

import fnmatch
import json
import os.path
import posixpath
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pjrtwheel.elf import layout
from pjrtwheel.elf.image import LINKER_DEFINED, DynamicEntry, ElfImage
from pjrtwheel.elf.layout import Edit, FileHeader, Piece, SectionHeader, Segment, Span, cut, total_size
from pjrtwheel.errors import ElfError, count, describe_size, shorten

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


_NAMES = {layout.DT_RPATH: "RPATH", layout.DT_RUNPATH: "RUNPATH"}
_ORIGINS = ("$ORIGIN", "${ORIGIN}")
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class LibraryPlace:
    """Where a library will lie.

    Attributes:
        depth: How many directories it is below `site-packages`; None in a wheel of others, where nobody knows what
            lies around it, so that every path relative to the library stays.
        kept: Elements that stay whatever they are.
        symbols: Whether symbol tables and debug information stay.
    """

    depth: int | None = None
    kept: tuple[str, ...] = ()
    symbols: bool = False


ANYWHERE = LibraryPlace()


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A search path without what is of no use: what is left, in order, and how many elements each reason dropped."""

    elements: tuple[str, ...]
    dropped: Counter[str]

    def describe(self) -> str:
        """Return the change in words: counts, and the beginning of what is left."""
        counts = ", ".join(f"{number} {reason}" for reason, number in self.dropped.items())
        total = count(len(self.elements) + self.dropped.total(), "element")
        if not self.elements:
            return f"removed: {total} ({counts})"
        return f"keeps {len(self.elements)} of {total} ({counts}): {shorten(self.elements, _SHOWN, ':')}"


def clean_search_path(path: str, place: LibraryPlace = ANYWHERE) -> Cleaned:
    """Keep the first of each element that can lead to a library on the machine of a user.

    >>> clean_search_path("$ORIGIN/../lib:/opt/build/lib:$ORIGIN/../lib/").describe()
    'keeps 1 of 3 elements (1 absolute, 1 repeated): $ORIGIN/../lib'
    >>> clean_search_path("$ORIGIN/../nvidia:$ORIGIN/../../nvidia", LibraryPlace(depth=1)).elements
    ('$ORIGIN/../nvidia',)
    """
    elements: dict[str, str] = {}
    dropped: Counter[str] = Counter()
    for element in path.split(":"):
        bare = element.rstrip("/") or element
        reason = "" if bare in place.kept else _fault(element, place.depth)
        reason = reason or ("repeated" if bare in elements else "")
        if reason:
            dropped[reason] += 1
        else:
            elements[bare] = element
    return Cleaned(tuple(elements.values()), dropped)


def _fault(element: str, depth: int | None) -> str:
    root, *parts = element.split("/")
    if root not in _ORIGINS:
        # An empty element, too, means the directory that the user happens to be in.
        return "absolute" if element.startswith("/") else "relative to the working directory"
    if depth is None:
        return ""
    # Bazel's directories of linked libraries and of run trees, which exist where it built.
    if any(part.startswith("_solib_") or part.endswith(".runfiles") for part in parts):
        return "of a build tree"
    return "outside site-packages" if _leaves(parts, depth) else ""


def _leaves(parts: list[str], depth: int) -> bool:
    """Return whether a path climbs above `site-packages` from this many directories below it."""
    return posixpath.normpath("/".join([*["directory"] * depth, *parts])).partition("/")[0] == ".."


def repair_search_paths(image: ElfImage, place: LibraryPlace = ANYWHERE) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
    """Return the edits that clean the search paths, and each change in words.

    Raises:
        ElfError: The string is shared with other names, so it cannot be changed in place.
    """
    dynamic = list(image.dynamic)
    strings: list[Edit] = []
    changes: list[str] = []
    for entry in [entry for entry in image.dynamic if entry.tag in _NAMES]:
        old = _string_at(image, entry.value)
        cleaned = clean_search_path(old, place)
        if not cleaned.dropped:
            continue
        new = ":".join(cleaned.elements)
        changes.append(f"{_NAMES[entry.tag]} {cleaned.describe()}")
        if not new:
            dynamic.remove(entry)
        if new or not _is_shared(image, entry.value, old):
            strings.append(_overwrite(image, entry.value, old, new))
    if len(dynamic) == len(image.dynamic):
        return tuple(strings), tuple(changes)
    return (*strings, _pack_dynamic(image, dynamic)), tuple(changes)


def _string_at(image: ElfImage, offset: int) -> str:
    end = image.dynstr.find(b"\0", offset)
    if not 0 <= offset <= end:
        raise ElfError(f"{image.where} is a damaged ELF file", cause="a search path lies outside the string table")
    return image.dynstr[offset:end].decode("utf-8", "surrogateescape")


def _is_shared(image: ElfImage, offset: int, text: str) -> bool:
    """Return whether any other name starts within this string: linkers merge a name with the end of a longer one."""
    stop = offset + len(text.encode("utf-8", "surrogateescape"))
    uses = Counter(entry.value for entry in image.dynamic if entry.tag in _NAMES)
    if any(value != offset and offset < value < stop for value in uses):
        return True
    return image.used_strings is None or any(offset <= value < stop for value in image.used_strings)


def _overwrite(image: ElfImage, offset: int, old: str, new: str) -> Edit:
    if _is_shared(image, offset, old):
        raise ElfError(
            f"the search path of {image.where} cannot be repaired in place",
            cause="other names of the library share its bytes",
            remedy=f"repair it first: patchelf --set-rpath {new!r} LIBRARY",
        )
    length = len(old.encode("utf-8", "surrogateescape"))
    return Edit(image.dynstr_offset + offset, new.encode("utf-8", "surrogateescape").ljust(length, b"\0"))


def _pack_dynamic(image: ElfImage, entries: Sequence[DynamicEntry]) -> Edit:
    """Write the dynamic table anew, with null entries in the place of removed ones."""
    filled = [*entries, *[DynamicEntry(layout.DT_NULL, 0)] * (len(image.dynamic) - len(entries))]
    return Edit(image.dynamic_offset, b"".join(struct.pack("<qQ", entry.tag, entry.value) for entry in filled))


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
