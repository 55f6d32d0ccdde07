# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Repair the program header table: the executable-stack flag, and alignment for kernels with 64 KiB pages."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from pjrtwheel.elf import layout
from pjrtwheel.elf.image import ElfImage
from pjrtwheel.elf.layout import Segment
from pjrtwheel.elf.pieces import Edit

# The largest page a kernel of the machine may use; where it is 4 KiB every linker gets it right.
_LARGEST_PAGE = {"EM_AARCH64": 0x10000}


def repair_stack(image: ElfImage) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
    """Return the edits that take the executable flag off the stack, and each change in words."""
    edits = tuple(
        _edit(image, index, replace(segment, flags=segment.flags & ~layout.PF_X))
        for index, segment in enumerate(image.segments)
        if segment.type == layout.PT_GNU_STACK and segment.flags & layout.PF_X
    )
    return edits, ("cleared the executable-stack flag",) * bool(edits)


def repair_alignment(image: ElfImage) -> tuple[tuple[Edit, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the edits that state an alignment fit for large pages, each change in words, and what remains wrong.

    The loader refuses a segment whose stated alignment is below the page size, even when address and offset agree.
    Where they do agree, and no page holds two segments, stating the true alignment is all it takes.
    """
    page = _LARGEST_PAGE.get(image.machine, 0)
    loads = [(index, segment) for index, segment in enumerate(image.segments) if segment.type == layout.PT_LOAD]
    small = [(index, segment) for index, segment in loads if segment.align < page]
    if not small:
        return (), (), ()
    problems = [
        f"segment at {segment.vaddr:#x} is not congruent to its file offset modulo {page:#x}"
        for _, segment in loads
        if (segment.vaddr - segment.offset) % page
    ]
    ordered = sorted((segment for _, segment in loads), key=lambda segment: segment.vaddr)
    problems += [
        f"segments at {first.vaddr:#x} and {second.vaddr:#x} share a page of {page:#x} bytes"
        for first, second in pairwise(ordered)
        if second.vaddr // page <= (first.vaddr + max(first.memsz, 1) - 1) // page
    ]
    if problems:
        return (), (), (f"does not load on kernels with pages of {page // 1024} KiB: {'; '.join(problems)}",)
    edits = tuple(_edit(image, index, replace(segment, align=page)) for index, segment in small)
    return edits, (f"raised the alignment of {len(small)} segments to {page // 1024} KiB",), ()


def _edit(image: ElfImage, index: int, segment: Segment) -> Edit:
    """Return the edit that replaces one program header."""
    return Edit(image.header.phoff + index * Segment.FORMAT.size, segment.pack())
