# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a release is held to: `releases/policy.toml`, and the sizes of the releases before it.

The policy says what a release has to prove, with waivers and notes of persons, each with its reason. The sizes are in
`releases/sizes.toml`, which `./noxw sizes` writes.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Literal, TypeVar

from packaging.version import Version

from pjrtwheel.errors import PinError, explain
from pjrtwheel.files import write_atomically
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.record.entries import Entry
from pjrtwheel.record.proofs import Level
from pjrtwheel.sets import PURE_PYTHON
from pjrtwheel.tables import TableError, column, metadata, read_toml

POLICY_FILE = "releases/policy.toml"
SIZES_FILE = "releases/sizes.toml"
_HEAD = "# Written by `./noxw sizes --tag TAG`; do not edit.\nschema = 1\n"
_DATE = r"\d{4}-\d{2}-\d{2}"
_TEXT = r"(?s).*\S.*"
_LONGEST = timedelta(days=366)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Demand:
    """The level that the best proof of a wheel must have, by what kind of wheel it is.

    Attributes:
        plugin: The wheel of a backend.
        jaxlib: `jaxlib` for a platform that a backend has a wheel for; proven with any backend.
        jaxlib_alone: `jaxlib` for any other platform.
        pure_python: A wheel without a library, of which there is nothing to run.
    """

    plugin: Level
    jaxlib: Level
    jaxlib_alone: Level
    pure_python: Level


@dataclass(frozen=True, slots=True)
class Waiver:
    """A person's decision that a lower level is enough for some wheels.

    Attributes:
        level: The level that is still demanded.
        wheel: Project name, such as `jaxlib-cuda-13`.
        reason: Why a higher one cannot be had.
        date: When it was decided, such as `2026-11-22`.
        until: The last day on which it holds, at most a year later.
        platforms: Names of platforms; all when empty.
        pythons: ABI tags such as `cp315t`, of wheels for one Python; all when empty.
        emulated: Whether an emulated machine may have shown that level.
    """

    level: Level
    wheel: str = column(pattern=_TEXT)
    reason: str = column(pattern=_TEXT)
    date: str = column(pattern=_DATE)
    until: str = column(pattern=_DATE)
    platforms: tuple[str, ...] = ()
    pythons: tuple[str, ...] = ()
    emulated: bool = False

    def covers(self, entry: Entry) -> bool:
        """Return whether it is about a wheel, whatever the day."""
        pythons = {tag.split("-")[1] for tag in entry.tags}
        return (
            entry.distribution == self.wheel
            and (not self.platforms or entry.platform in self.platforms)
            and (not self.pythons or not pythons.isdisjoint(self.pythons))
        )

    def describe(self) -> str:
        """Return what it is about, in words."""
        return " ".join([f"the waiver for {self.wheel}", *self.platforms, *self.pythons])


@dataclass(frozen=True, slots=True)
class Note:
    """A person's word that wheels of one release may have grown.

    Attributes:
        tag: Tag of that release.
        wheel: Project name.
        reason: What makes them larger.
        date: When it was written.
        platforms: Names of platforms; all when empty.
    """

    tag: str = column(pattern=_TEXT)
    wheel: str = column(pattern=_TEXT)
    reason: str = column(pattern=_TEXT)
    date: str = column(pattern=_DATE)
    platforms: tuple[str, ...] = ()

    def describe(self) -> str:
        """Name it in a message."""
        return f"the note on growth of {self.wheel} in {self.tag}"


@dataclass(frozen=True, slots=True)
class Policy:
    """All that persons decided on releases.

    Attributes:
        schema: Version of this format.
        growth_percent: By how much a wheel may grow from one release to the next without a note.
        growth_bytes: Growth up to that is not looked at, however small the wheel is.
        demand: The levels that are demanded.
        waivers: Exceptions from them.
        notes: Wheels that may have grown by more.
    """

    schema: Literal[1]
    growth_percent: float = field(metadata=metadata(minimum=0))
    growth_bytes: int = field(metadata=metadata(minimum=0))
    demand: Demand
    waivers: tuple[Waiver, ...] = column(key="waiver", default=())
    notes: tuple[Note, ...] = column(key="growth", default=())


def load_policy(root: Path) -> Policy:
    """Read the policy of a repository.

    Raises:
        PinError: The file is missing or malformed.
    """
    return _read(Policy, root, POLICY_FILE, "build/pjrtwheel/release_check/policy.py documents every key")


def _read(kind: type[T], root: Path, name: str, remedy: str) -> T:
    try:
        return read_toml(kind, (root / name).read_text("utf-8"))
    except (OSError, TableError) as error:
        raise PinError(f"cannot read {name}", cause=explain(error), remedy=remedy) from error


def check_policy(policy: Policy, projects: Collection[str], platforms: Collection[str], today: date) -> Iterator[str]:
    """Yield what is wrong with decisions: about what does not exist, of no day or a coming one, or expired."""
    decisions: tuple[Waiver | Note, ...] = (*policy.waivers, *policy.notes)
    for decision in decisions:
        what = decision.describe()
        unknown = [decision.wheel] if decision.wheel not in projects else []
        unknown += [name for name in decision.platforms if name not in platforms]
        if unknown:
            yield f"{what} is about what does not exist: {', '.join(unknown)}"
        until = decision.until if isinstance(decision, Waiver) else ""
        yield from (f"{what} {fault}" for fault in _check_dates(decision.date, until, today))


def holds(waiver: Waiver, today: date) -> bool:
    """Return whether a waiver holds on a day."""
    return not list(_check_dates(waiver.date, waiver.until, today))


def _check_dates(decided: str, until: str, today: date) -> Iterator[str]:
    """Yield what is wrong with the day of a decision, and with its last one if it has any."""
    try:
        first, last = date.fromisoformat(decided), date.fromisoformat(until) if until else today
    except ValueError as error:
        yield f"has a date that is none: {error}"
        return
    if first > today:
        yield f"is dated in the future: {decided}"
    if last < today:
        yield f"expired on {until}"
    if last - first > _LONGEST and until:
        yield f"holds for more than a year: from {decided} until {until}"


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
    if not (root / SIZES_FILE).is_file():
        return ()
    return _read(_Sizes, root, SIZES_FILE, "restore it from git; it is generated").sizes


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


def check_growth(sizes: Iterable[Size], baselines: Iterable[Size], policy: Policy) -> Iterator[str]:
    """Yield each project and platform whose wheel grew by more than is allowed, unless a note says why.

    It is compared with the newest earlier release that has one.
    """
    ordered = sorted(baselines, key=lambda known: _order(known.tag))
    noted = [(note.tag, note.wheel, platform) for note in policy.notes for platform in note.platforms or PLATFORMS]
    for size in sizes:
        earlier = [known for known in ordered if _order(known.tag) < _order(size.tag)]
        last = {(known.wheel, known.platform): known for known in earlier}.get((size.wheel, size.platform))
        if last is None or (size.tag, size.wheel, size.platform) in noted:
            continue
        growth = size.size - last.size
        if growth > max(policy.growth_bytes, last.size * policy.growth_percent / 100):
            yield (
                f"{size.wheel} for {size.platform} has {size.size} bytes, {100 * growth / last.size:.1f} % more than "
                f"in {last.tag} ({last.size}); {policy.growth_percent:g} % are allowed"
            )


def _order(tag: str) -> Version:
    return Version(tag.removeprefix("v"))
