# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Repair the program header table: the executable-stack flag, and alignment for kernels with 64 KiB pages."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from pjrtwheel.elf import layout
from pjrtwheel.elf.layout import Segment

# The largest page a kernel of the machine may use; where it is 4 KiB every linker gets it right.
_LARGEST_PAGE = {"EM_AARCH64": 0x10000}
_SMALLEST_PAGE = 0x1000

Segments = tuple[Segment, ...]


def repair_stack(segments: Segments) -> tuple[Segments, tuple[str, ...]]:
    """Return the segments without the executable flag of the stack, and each change in words."""
    repaired = tuple(
        replace(segment, flags=segment.flags & ~layout.PF_X) if segment.type == layout.PT_GNU_STACK else segment
        for segment in segments
    )
    return repaired, ("cleared the executable-stack flag",) * (repaired != segments)


def repair_alignment(machine: str, segments: Segments) -> tuple[Segments, tuple[str, ...], tuple[str, ...]]:
    """Return the segments with an alignment fit for large pages, each change in words, and what remains wrong.

    The loader refuses a segment whose stated alignment is below the page size, even when address and offset agree.
    Where they do agree, and no page holds two segments, stating the true alignment is all it takes.
    """
    page = largest_page(machine)
    loads = [segment for segment in segments if segment.type == layout.PT_LOAD]
    small = [segment for segment in loads if segment.align < page]
    if page == _SMALLEST_PAGE or not small:
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


def largest_page(machine: str) -> int:
    """Return the size of the largest page that a kernel of this machine may use."""
    return _LARGEST_PAGE.get(machine, _SMALLEST_PAGE)
