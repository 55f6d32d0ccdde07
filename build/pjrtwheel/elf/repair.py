# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Decide all that is changed in one library: values in, values out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pjrtwheel.elf import layout
from pjrtwheel.elf.image import ElfImage
from pjrtwheel.elf.layout import FileHeader
from pjrtwheel.elf.pieces import Edit, Piece, Span, cut, total_size
from pjrtwheel.elf.runpath import repair_runpath
from pjrtwheel.elf.searchpath import ANYWHERE, Place
from pjrtwheel.elf.segments import repair_alignment, repair_stack
from pjrtwheel.elf.strip import strip
from pjrtwheel.elf.symbols import LINKER_DEFINED
from pjrtwheel.errors import ElfError


@dataclass(frozen=True, slots=True)
class RepairPlan:
    """How to write the repaired library.

    Attributes:
        pieces: What the repaired file is made of, in order.
        size: Its length.
        dropped_bytes: How much shorter it is.
        changes: What is changed, in words.
        findings: What is wrong and cannot be repaired, in words.
    """

    pieces: tuple[Piece, ...]
    size: int
    dropped_bytes: int
    changes: tuple[str, ...]
    findings: tuple[str, ...]


def plan_repair(image: ElfImage, place: Place = ANYWHERE) -> RepairPlan:
    """Plan the repair of a library; object files are left as they are.

    Args:
        image: The library.
        place: Where it will lie.

    Raises:
        ElfError: A search path leads out of the wheel and cannot be changed in place.
    """
    if image.header.type not in {layout.ET_DYN, layout.ET_EXEC}:
        return RepairPlan((Span(0, image.size),), image.size, 0, (), ())
    stripped = strip(image)
    search_edits, search_changes = repair_runpath(image, place)
    segments, stack_changes = repair_stack(stripped.segments)
    segments, page_changes, findings = repair_alignment(image.machine, segments)
    table = b"".join(segment.pack() for segment in segments)
    edits = (Edit(FileHeader.START, stripped.header.pack()), Edit(image.header.phoff, table), *search_edits)
    kept = [piece for span in stripped.kept for piece in cut(span, edits)]
    pieces = (*kept, *stripped.tail)
    size = total_size(pieces)
    strip_changes = [f"dropped {', '.join(stripped.dropped)} ({describe_size(image.size - size)})"]
    changes = (*strip_changes[: len(stripped.dropped)], *search_changes, *stack_changes, *page_changes)
    return RepairPlan(pieces, size, image.size - size, changes, findings)


def check_exports(image: ElfImage, allowed: Sequence[str]) -> None:
    """Hold the exported symbols of a plugin library to an allow-list.

    Args:
        image: The library.
        allowed: The symbols it may define, besides those of the linker; the first must be there.

    Raises:
        ElfError: The first symbol is missing, or there are symbols beyond the list.
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
        more = f" and {len(extra) - 5} more" if len(extra) > 5 else ""
        raise ElfError(
            f"{image.where} exports symbols beyond its allow-list: {', '.join(extra[:5])}{more}",
            cause="it was linked without a version script, and could collide with other libraries of the process",
            remedy="link it with a version script, or add them to exports in backend.toml",
        )


def describe_size(size: int) -> str:
    """Return a number of bytes as people read it.

    >>> describe_size(99_800_000), describe_size(4_321), describe_size(12)
    ('99.8 MB', '4.3 kB', '12 bytes')
    """
    for unit, name in ((1_000_000, "MB"), (1_000, "kB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} bytes"
