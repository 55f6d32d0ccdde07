# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Compare two wheels by their members."""

import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from pjrtwheel.wheel.members import open_wheel, read_member

# What the first wheel alone has, and the second one.
Sides = tuple[tuple[str, ...], tuple[str, ...]]
# What the directory of a zip file says of a member, and how a difference in it is called.
_ENTRIES = {"dates": "date_time", "permissions": "external_attr", "methods": "compress_type"}


def compare_wheels(a: Path, b: Path) -> dict[str, Sides]:
    """Return in what the files of two wheels differ: in their members, or only in how these are packed; fast.

    A key is one of

    - `members`: those that one wheel alone has;
    - `bytes`: those with other bytes, on both sides;
    - `lines of PATH`: of METADATA or WHEEL;
    - `order`: all members, in their orders;
    - `dates`, `permissions`, `methods` (of compression), `packed` (the same bytes in another length): the members that
      differ in it, on both sides.

    Files of the same members that differ in nothing of that were compressed in another way.

    Raises:
        WheelError: One is damaged or hostile.
    """
    with open_wheel(a) as first, open_wheel(b) as second:
        return {about: sides for about, sides in _compare_archives(first, second) if any(sides)}


def _compare_archives(a: zipfile.ZipFile, b: zipfile.ZipFile) -> Iterator[tuple[str, Sides]]:
    old, new = ({info.filename: info for info in archive.infolist()} for archive in (a, b))
    common = [name for name in old if name in new]
    yield "members", _only(list(old), list(new))
    changed = tuple(name for name in common if read_member(a, old[name]) != read_member(b, new[name]))
    yield "bytes", (changed, changed)
    for name in changed:
        if name.endswith((".dist-info/METADATA", ".dist-info/WHEEL")):
            before, after = (archive.read(name).decode(errors="replace").splitlines() for archive in (a, b))
            yield f"lines of {name}", _only(before, after)
    if common != [name for name in new if name in old]:
        yield "order", (tuple(old), tuple(new))
    for about, attribute in _ENTRIES.items():
        others = tuple(name for name in common if getattr(old[name], attribute) != getattr(new[name], attribute))
        yield about, (others, others)
    packed = tuple(
        name for name in common if name not in changed and old[name].compress_size != new[name].compress_size
    )
    yield "packed", (packed, packed)


def _only(a: Iterable[str], b: Iterable[str]) -> Sides:
    before, after = Counter(a), Counter(b)
    return tuple((before - after).elements()), tuple((after - before).elements())
