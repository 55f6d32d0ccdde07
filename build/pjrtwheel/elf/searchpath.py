# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Decide which elements of a search path (RPATH or RUNPATH) are of use where a library will lie."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pjrtwheel.errors import count

_ORIGINS = ("$ORIGIN", "${ORIGIN}")
_SHOWN = 3

ABSOLUTE = "absolute"
RELATIVE = "relative to the working directory"
BUILD_TREE = "of a build tree"
OUTSIDE = "outside site-packages"
REPEATED = "repeated"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a library will lie.

    Attributes:
        depth: How many directories it is below `site-packages`; None in a wheel of others, where nobody knows what
            lies around it, so that every path relative to the library stays.
        kept: Elements that stay whatever they are.
    """

    depth: int | None = None
    kept: tuple[str, ...] = ()


ANYWHERE = Place()


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A search path without what is of no use.

    Attributes:
        elements: What is left, in the old order.
        dropped: Reason → how many elements were dropped for it.
    """

    elements: tuple[str, ...]
    dropped: Counter[str]

    def describe(self) -> str:
        """Return the change in words: counts, and the beginning of what is left."""
        counts = ", ".join(f"{number} {reason}" for reason, number in self.dropped.items())
        total = count(len(self.elements) + self.dropped.total(), "element")
        if not self.elements:
            return f"removed: {total} ({counts})"
        more = f" and {len(self.elements) - _SHOWN} more" if len(self.elements) > _SHOWN else ""
        return f"keeps {len(self.elements)} of {total} ({counts}): {':'.join(self.elements[:_SHOWN])}{more}"


def clean_search_path(path: str, place: Place = ANYWHERE) -> Cleaned:
    """Keep the first of each element that can lead to a library on the machine of a user.

    >>> clean_search_path("$ORIGIN/../lib:/opt/build/lib:$ORIGIN/../lib/").describe()
    'keeps 1 of 3 elements (1 absolute, 1 repeated): $ORIGIN/../lib'
    >>> clean_search_path("$ORIGIN/../nvidia:$ORIGIN/../../nvidia", Place(depth=1)).elements
    ('$ORIGIN/../nvidia',)
    """
    elements: dict[str, str] = {}
    dropped: Counter[str] = Counter()
    for element in path.split(":"):
        bare = element.rstrip("/") or element
        reason = "" if bare in place.kept else _fault(element, place.depth)
        reason = reason or (REPEATED if bare in elements else "")
        if reason:
            dropped[reason] += 1
        else:
            elements[bare] = element
    return Cleaned(tuple(elements.values()), dropped)


def _fault(element: str, depth: int | None) -> str:
    """Return why an element is of no use, or nothing."""
    root, *parts = element.split("/")
    if root not in _ORIGINS:
        # An empty element, too, means the directory that the user happens to be in.
        return ABSOLUTE if element.startswith("/") else RELATIVE
    if depth is None:
        return ""
    # Bazel's directories of linked libraries and of run trees, which exist where it built.
    if any(part.startswith("_solib_") or part.endswith(".runfiles") for part in parts):
        return BUILD_TREE
    return OUTSIDE if _leaves(parts, depth) else ""


def _leaves(parts: list[str], depth: int) -> bool:
    """Tell whether a path climbs above `site-packages` from this many directories below it."""
    for part in parts:
        depth += {"..": -1, ".": 0, "": 0}.get(part, 1)
        if depth < 0:
            return True
    return False
