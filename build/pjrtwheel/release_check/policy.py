# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a release has to prove: `releases/policy.toml`, with waivers of persons, each with its reason."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Literal

from pjrtwheel.record.entries import Entry
from pjrtwheel.record.proofs import Level
from pjrtwheel.tables import column, load_toml

POLICY_FILE = "releases/policy.toml"
_DATE = r"\d{4}-\d{2}-\d{2}"
_TEXT = r"(?s).*\S.*"
_LONGEST = timedelta(days=366)


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
class Policy:
    """All that persons decided on releases.

    Attributes:
        schema: Version of this format.
        demand: The levels that are demanded.
        waivers: Exceptions from them.
    """

    schema: Literal[1]
    demand: Demand
    waivers: tuple[Waiver, ...] = column(key="waiver", default=())


def load_policy(root: Path) -> Policy:
    """Read the policy of a repository.

    Raises:
        PinError: The file is missing or malformed.
    """
    return load_toml(Policy, root / POLICY_FILE, "build/pjrtwheel/release_check/policy.py documents every key")


def check_policy(policy: Policy, projects: Collection[str], platforms: Collection[str], today: date) -> Iterator[str]:
    """Yield what is wrong with decisions: about what does not exist, of no day or a coming one, or expired."""
    for waiver in policy.waivers:
        what = waiver.describe()
        unknown = [waiver.wheel] if waiver.wheel not in projects else []
        unknown += [name for name in waiver.platforms if name not in platforms]
        if unknown:
            yield f"{what} is about what does not exist: {', '.join(unknown)}"
        yield from (f"{what} {fault}" for fault in _check_dates(waiver, today))


def holds(waiver: Waiver, today: date) -> bool:
    """Return whether a waiver holds on a day."""
    return not list(_check_dates(waiver, today))


def _check_dates(waiver: Waiver, today: date) -> Iterator[str]:
    """Yield what is wrong with the days of a waiver."""
    try:
        first, last = date.fromisoformat(waiver.date), date.fromisoformat(waiver.until)
    except ValueError as error:
        yield f"has a date that is none: {error}"
        return
    if first > today:
        yield f"is dated in the future: {waiver.date}"
    if last < today:
        yield f"expired on {waiver.until}"
    if last - first > _LONGEST:
        yield f"holds for more than a year: from {waiver.date} until {waiver.until}"
