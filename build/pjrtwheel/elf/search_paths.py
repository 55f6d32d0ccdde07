# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Repair search paths (RPATH and RUNPATH): they lose what is of no use where the library will lie.

They keep within the bytes that they take.
"""

import posixpath
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pjrtwheel.elf import layout
from pjrtwheel.elf.image import DynamicEntry, ElfImage
from pjrtwheel.elf.layout import Edit
from pjrtwheel.errors import ElfError, count, shorten

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
