# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Compare two wheels by their members."""

import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.wheel.members import open_wheel, read_member

# Subject → what there is of it; the order of values counts for none.
Facts = Mapping[str, Sequence[str]]
# What the directory of a zip file says of a member, and how a difference in it is called.
_ENTRIES = {"dates": "date_time", "permissions": "external_attr", "methods": "compress_type"}


@dataclass(frozen=True, slots=True)
class Difference:
    """Something in which two wheels differ.

    Attributes:
        about: What it is, such as `requires` or `exports`.
        library: Of which library or text, by its file name; empty for the wheel as a whole.
        only_a: What the first wheel alone has of it.
        only_b: What the second one alone has.
    """

    about: str
    library: str
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


def compare_wheels(a: Path, b: Path) -> tuple[Difference, ...]:
    """Return in what the files of two wheels differ: in their members, or only in how these are packed; fast.

    `about` is one of

    - `members`: those that one wheel alone has;
    - `bytes`: those with other bytes, on both sides;
    - `lines`: of METADATA or WHEEL, of which `library` is the path;
    - `order`: all members, in their orders;
    - `dates`, `permissions`, `methods` (of compression), `packed` (the same bytes in another length): the members that
      differ in it, on both sides.

    Files of the same members that differ in nothing of that were compressed in another way.

    Raises:
        WheelError: One is damaged or hostile.
    """
    with open_wheel(a) as first, open_wheel(b) as second:
        return tuple(entry for entry in _compare_archives(first, second) if entry.only_a or entry.only_b)


def _compare_archives(a: zipfile.ZipFile, b: zipfile.ZipFile) -> Iterator[Difference]:
    old, new = ({info.filename: info for info in archive.infolist()} for archive in (a, b))
    common = [name for name in old if name in new]
    yield from _compare("", {"members": list(old)}, {"members": list(new)})
    changed = tuple(name for name in common if read_member(a, old[name]) != read_member(b, new[name]))
    yield Difference("bytes", "", changed, changed)
    for name in changed:
        if name.endswith((".dist-info/METADATA", ".dist-info/WHEEL")):
            before, after = (archive.read(name).decode(errors="replace").splitlines() for archive in (a, b))
            yield from _compare(name, {"lines": before}, {"lines": after})
    if common != [name for name in new if name in old]:
        yield Difference("order", "", tuple(old), tuple(new))
    for about, attribute in _ENTRIES.items():
        others = tuple(name for name in common if getattr(old[name], attribute) != getattr(new[name], attribute))
        yield Difference(about, "", others, others)
    packed = tuple(
        name for name in common if name not in changed and old[name].compress_size != new[name].compress_size
    )
    yield Difference("packed", "", packed, packed)


def _compare(library: str, a: Facts, b: Facts) -> Iterator[Difference]:
    """Yield what each side alone has of every subject; nothing on both sides where they are equal."""
    for about in a:
        before, after = Counter(a[about]), Counter(b[about])
        only_a, only_b = ((left - right).elements() for left, right in ((before, after), (after, before)))
        yield Difference(about, library, tuple(only_a), tuple(only_b))
