# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Free RPATH and RUNPATH of what is of no use in a wheel, within the bytes that are there."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Sequence

from pjrtwheel.elf import layout
from pjrtwheel.elf.image import DynamicEntry, ElfImage
from pjrtwheel.elf.pieces import Edit
from pjrtwheel.elf.searchpath import ANYWHERE, Place, clean_search_path
from pjrtwheel.errors import ElfError

_NAMES = {layout.DT_RPATH: "RPATH", layout.DT_RUNPATH: "RUNPATH"}


def repair_runpath(image: ElfImage, place: Place = ANYWHERE) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
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
    """Return a string of the dynamic string table."""
    end = image.dynstr.find(b"\0", offset)
    if not 0 <= offset <= end:
        raise ElfError(f"{image.where} is a damaged ELF file", cause="a search path lies outside the string table")
    return image.dynstr[offset:end].decode("utf-8", "surrogateescape")


def _is_shared(image: ElfImage, offset: int, text: str) -> bool:
    """Tell whether any other name starts within this string: linkers merge a name with the end of a longer one."""
    stop = offset + len(text.encode("utf-8", "surrogateescape"))
    uses = Counter(entry.value for entry in image.dynamic if entry.tag in _NAMES)
    if any(value != offset and offset < value < stop for value in uses):
        return True
    return image.used_strings is None or any(offset <= value < stop for value in image.used_strings)


def _overwrite(image: ElfImage, offset: int, old: str, new: str) -> Edit:
    """Put a shorter string in the place of the old one."""
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
