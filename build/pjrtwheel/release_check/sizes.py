# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Hold the sizes of wheels to those of the release before, which `./noxw sizes` writes down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from packaging.version import Version

from pjrtwheel.errors import PinError
from pjrtwheel.files import write_atomically
from pjrtwheel.record.entries import Entry
from pjrtwheel.release_check.policy import Policy
from pjrtwheel.release_check.problems import Kind, Problem
from pjrtwheel.sets.projects import PURE_PYTHON
from pjrtwheel.tables import TableError, column, read_toml

SIZES_FILE = "releases/sizes.toml"
_HEAD = "# Written by `./noxw sizes --tag TAG`; do not edit.\nschema = 1\n"


@dataclass(frozen=True, slots=True)
class Size:
    """The largest wheel of a project for a platform in one release: those for several Pythons are about as large.

    Attributes:
        tag: Tag of the release.
        wheel: Project name.
        platform: Name of the platform.
        size: Its length in bytes.
    """

    tag: str = column(pattern=r"v\d[\w.+]*")
    wheel: str = column(pattern=r"[a-z0-9-]+")
    platform: str = column(pattern=r"\w+")
    size: int = column(minimum=1)


@dataclass(frozen=True, slots=True)
class _Sizes:
    schema: Literal[1]
    sizes: tuple[Size, ...] = column(key="size", default=())


def load_sizes(root: Path) -> tuple[Size, ...]:
    """Read the sizes of all releases; none where nothing was written down.

    Raises:
        PinError: The file is malformed.
    """
    path = root / SIZES_FILE
    try:
        return read_toml(_Sizes, path.read_text("utf-8")).sizes if path.is_file() else ()
    except TableError as error:
        raise PinError(
            f"malformed file: {SIZES_FILE}", cause=str(error), remedy="restore it from git; it is generated"
        ) from error


def measure(tag: str, entries: Iterable[Entry]) -> list[Size]:
    """Return the sizes of the wheels of a release; those without a library are left out."""
    largest: dict[tuple[str, str], int] = {}
    for entry in entries:
        key = (entry.distribution, entry.platform)
        if entry.distribution not in PURE_PYTHON:
            largest[key] = max(entry.size, largest.get(key, 0))
    return [Size(tag, wheel, platform, size) for (wheel, platform), size in sorted(largest.items())]


def write_sizes(root: Path, sizes: Iterable[Size], tag: str) -> None:
    """Put the sizes of one release in the place of what was known of it; those of others stay."""
    kept = [size for size in load_sizes(root) if size.tag != tag]
    write_atomically(root / SIZES_FILE, format_sizes([*kept, *sizes]))


def format_sizes(sizes: Iterable[Size]) -> str:
    """Return the text of the file: in the order of releases."""
    ordered = sorted(sizes, key=lambda size: (_order(size.tag), size.wheel, size.platform))
    tables = (
        f'\n[[size]]\ntag = "{size.tag}"\nwheel = "{size.wheel}"\nplatform = "{size.platform}"\nsize = {size.size}\n'
        for size in ordered
    )
    return _HEAD + "".join(tables)


def check_growth(sizes: Iterable[Size], baselines: Sequence[Size], policy: Policy) -> Iterator[Problem]:
    """Yield each project and platform whose wheel grew by more than is allowed, unless a note says why.

    It is compared with the newest earlier release that has one.
    """
    for size in sizes:
        before = _find_before(size, baselines)
        noted = any(
            (note.tag, note.wheel) == (size.tag, size.wheel) and (not note.platforms or size.platform in note.platforms)
            for note in policy.notes
        )
        if before is not None and not noted and size.size > before.size * (1 + policy.growth_percent / 100):
            growth = 100 * (size.size / before.size - 1)
            yield Problem(
                Kind.SIZE,
                f"{size.wheel} for {size.platform} has {size.size} bytes, {growth:.1f} % more than in {before.tag} "
                f"({before.size}); {policy.growth_percent:g} % are allowed",
            )


def _find_before(size: Size, baselines: Iterable[Size]) -> Size | None:
    alike = [
        known
        for known in baselines
        if (known.wheel, known.platform) == (size.wheel, size.platform) and _order(known.tag) < _order(size.tag)
    ]
    return max(alike, key=lambda known: _order(known.tag), default=None)


def _order(tag: str) -> Version:
    return Version(tag.removeprefix("v"))
