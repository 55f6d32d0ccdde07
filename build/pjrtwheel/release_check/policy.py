# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read `releases/policy.toml`: what a release has to prove, and a person's waivers and notes, each with its reason."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Literal

from pjrtwheel.errors import PinError
from pjrtwheel.record.entries import Entry
from pjrtwheel.record.proofs import Level
from pjrtwheel.release_check.problems import Kind, Problem
from pjrtwheel.tables import TableError, column, metadata, read_toml

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
        demand: The levels that are demanded.
        waivers: Exceptions from them.
        notes: Wheels that may have grown by more.
    """

    schema: Literal[1]
    growth_percent: float = field(metadata=metadata(minimum=0))
    demand: Demand
    waivers: tuple[Waiver, ...] = column(key="waiver", default=())
    notes: tuple[Note, ...] = column(key="growth", default=())


def load_policy(root: Path) -> Policy:
    """Read the policy of a repository.

    Raises:
        PinError: The file is missing or malformed.
    """
    path, remedy = root / POLICY_FILE, "build/pjrtwheel/release_check/policy.py documents every key"
    if not path.is_file():
        raise PinError(f"no such file: {POLICY_FILE}", cause="it says what a release has to prove", remedy=remedy)
    try:
        return read_toml(Policy, path.read_text("utf-8"))
    except TableError as error:
        raise PinError(
            f"malformed file: {POLICY_FILE}",
            cause=str(error),
            remedy=remedy,
        ) from error


def check_policy(
    policy: Policy, projects: Collection[str], platforms: Collection[str], today: date
) -> Iterator[Problem]:
    """Yield what is wrong with decisions: about what does not exist, of no day or a coming one, or expired."""
    decisions: tuple[Waiver | Note, ...] = (*policy.waivers, *policy.notes)
    for decision in decisions:
        what = decision.describe()
        unknown = [decision.wheel] if decision.wheel not in projects else []
        unknown += [name for name in decision.platforms if name not in platforms]
        if unknown:
            yield Problem(Kind.POLICY, f"{what} is about what does not exist: {', '.join(unknown)}")
        until = decision.until if isinstance(decision, Waiver) else ""
        yield from (Problem(Kind.POLICY, f"{what} {fault}") for fault in _check_dates(decision.date, until, today))


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
