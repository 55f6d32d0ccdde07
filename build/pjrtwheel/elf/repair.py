# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Decide all that is changed in one library: values in, values out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pjrtwheel.elf import layout
from pjrtwheel.elf.image import LINKER_DEFINED, ElfImage
from pjrtwheel.elf.layout import FileHeader, Segment
from pjrtwheel.elf.pieces import Edit, Piece, Span, cut, total_size
from pjrtwheel.elf.search_path import ANYWHERE, LibraryPlace, repair_search_paths
from pjrtwheel.elf.strip import strip
from pjrtwheel.errors import ElfError, describe_size, shorten

_Segments = tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class RepairPlan:
    """How to write the repaired library.

    Attributes:
        pieces: What the repaired file is made of, in order.
        dropped_bytes: How much shorter it is.
        changes: What is changed, in words.
        findings: What is wrong and cannot be repaired, in words.
    """

    pieces: tuple[Piece, ...]
    size: int
    dropped_bytes: int
    changes: tuple[str, ...]
    findings: tuple[str, ...]


def plan_repair(image: ElfImage, place: LibraryPlace = ANYWHERE) -> RepairPlan:
    """Plan the repair of a library that will lie at `place`; object files are left as they are.

    Raises:
        ElfError: A search path leads out of the wheel and cannot be changed in place.
    """
    if image.header.type not in {layout.ET_DYN, layout.ET_EXEC}:
        return RepairPlan((Span(0, image.size),), image.size, 0, (), ())
    stripped = strip(image)
    search_edits, search_changes = repair_search_paths(image, place)
    segments, stack_changes = _repair_stack(stripped.segments)
    segments, page_changes, findings = _repair_alignment(image.machine, segments)
    table = b"".join(segment.pack() for segment in segments)
    edits = (Edit(FileHeader.START, stripped.header.pack()), Edit(image.header.phoff, table), *search_edits)
    kept = [piece for span in stripped.kept for piece in cut(span, edits)]
    pieces = (*kept, *stripped.tail)
    size = total_size(pieces)
    strip_changes = [f"dropped {', '.join(stripped.dropped)} ({describe_size(image.size - size)})"]
    changes = (*strip_changes[: len(stripped.dropped)], *search_changes, *stack_changes, *page_changes)
    return RepairPlan(pieces, size, image.size - size, changes, findings)


def _repair_stack(segments: _Segments) -> tuple[_Segments, tuple[str, ...]]:
    """Return the segments without the executable flag of the stack, and each change in words."""
    repaired = tuple(
        replace(segment, flags=segment.flags & ~layout.PF_X) if segment.type == layout.PT_GNU_STACK else segment
        for segment in segments
    )
    return repaired, ("cleared the executable-stack flag",) * (repaired != segments)


def _repair_alignment(machine: str, segments: _Segments) -> tuple[_Segments, tuple[str, ...], tuple[str, ...]]:
    """Return the segments with an alignment fit for large pages, each change in words, and what stays wrong.

    The loader refuses a segment whose stated alignment is below the page size, even when address and offset agree.
    Where they do agree, and no page holds two segments, stating the true alignment is all it takes.
    """
    page = layout.largest_page(machine)
    loads = [segment for segment in segments if segment.type == layout.PT_LOAD]
    small = [segment for segment in loads if segment.align < page]
    if page == layout.SMALLEST_PAGE or not small:
        return segments, (), ()
    problems = [
        f"segment at {segment.vaddr:#x} is not congruent to its file offset modulo {page:#x}"
        for segment in loads
        if (segment.vaddr - segment.offset) % page
    ]
    ordered = sorted(loads, key=lambda segment: segment.vaddr)
    problems += [
        f"segments at {first.vaddr:#x} and {second.vaddr:#x} share a page of {page:#x} bytes"
        for first, second in pairwise(ordered)
        if second.vaddr // page <= (first.vaddr + max(first.memsz, 1) - 1) // page
    ]
    if problems:
        return segments, (), (f"does not load on kernels with pages of {page // 1024} KiB: {'; '.join(problems)}",)
    repaired = tuple(replace(segment, align=page) if segment in small else segment for segment in segments)
    return repaired, (f"raised the alignment of {len(small)} segments to {page // 1024} KiB",), ()


def check_exports(image: ElfImage, allowed: Sequence[str]) -> None:
    """Hold the exported symbols of a plugin library to an allow-list, the first of which must be there.

    Raises:
        ElfError: The first symbol is missing, or there are symbols beyond the list and those of the linker.
    """
    if allowed[0] not in image.exports:
        exported = ", ".join(image.exports[:5]) or "nothing"
        raise ElfError(
            f"{image.where} exports no {allowed[0]}",
            cause=f"it exports {exported}, so it is not a PJRT plugin",
            remedy="give the library that implements the PJRT C API",
        )
    extra = sorted(set(image.exports) - {*allowed, *LINKER_DEFINED})
    if extra:
        raise ElfError(
            f"{image.where} exports symbols beyond its allow-list: {shorten(extra, 5)}",
            cause="it was linked without a version script, and could collide with other libraries of the process",
            remedy="link it with a version script, or add them to exports in backend.toml",
        )
