# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a release has to prove (`releases/policy.toml`), and whether the proofs of its wheels meet that.

Waivers are decisions of persons, each with its reason. Of proofs, their levels count, and from which commit and when
they are.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pjrtwheel.backend import KERNELS_SUFFIX
from pjrtwheel.errors import fit, shorten
from pjrtwheel.grouping import group
from pjrtwheel.record.entries import Entry
from pjrtwheel.record.origin import describe_commit_fault
from pjrtwheel.record.proofs import ORDER, Level, Proof, highest
from pjrtwheel.sets import BINDINGS, PURE_PYTHON
from pjrtwheel.tables import column, load_toml

POLICY_FILE = "releases/policy.toml"
_DATE = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
_TEXT = r"(?s).*\S.*"


@dataclass(frozen=True, slots=True)
class Demand:
    """The level that the best proof of a wheel must have, by what kind of wheel it is.

    Attributes:
        plugin: A wheel of a backend: a plugin, or its kernels for one Python.
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
        wheel: Project name, such as `jaxlib-cuda-13`, with its kernels.
        reason: Why a higher one cannot be had.
        date: When it was decided, such as `2026-11-22`.
        until: The last day on which it holds.
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
            self.wheel in {entry.distribution, entry.distribution.removesuffix(KERNELS_SUFFIX)}
            and (not self.platforms or entry.platform in self.platforms)
            and (not self.pythons or not pythons.isdisjoint(self.pythons))
        )

    def holds(self, today: str) -> bool:
        """Return whether a day, such as `2026-11-22`, is no later than its last one."""
        return today <= self.until

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


def check_policy(policy: Policy, today: str) -> Iterator[str]:
    """Yield which decisions hold no more."""
    expired = (waiver for waiver in policy.waivers if not waiver.holds(today))
    yield from (f"{waiver.describe()} expired on {waiver.until}" for waiver in expired)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a wheel was found to show.

    Attributes:
        entry: The wheel.
        demanded: The level that it must have.
        shown: That of its best proof that counts.
        waiver: The waiver that it needs, if there is one.
    """

    entry: Entry
    demanded: Level
    shown: Level
    waiver: Waiver | None = None


def choose_demand(demand: Demand, entry: Entry, with_plugin: Collection[str]) -> Level:
    """Return the level that a wheel must have, given the platforms that plugins are promised for."""
    if entry.distribution in PURE_PYTHON:
        return demand.pure_python
    if entry.distribution != BINDINGS:
        return demand.plugin
    return demand.jaxlib if entry.platform in with_plugin else demand.jaxlib_alone


def judge(entry: Entry, demanded: Level, waivers: Sequence[Waiver], commits: Collection[str]) -> Verdict:
    """Return whether the proofs of a wheel suffice, with the help of the waivers that hold today.

    On an emulated machine nothing is shown of a device; only a waiver makes its proofs count.
    """
    counting = [proof for proof in entry.proofs() if not list(find_faults(proof, commits))]
    real = highest(proof.shown_level() for proof in counting if not proof.emulated)
    if _reaches(real, demanded):
        return Verdict(entry, demanded, real)
    any_machine = highest(proof.shown_level() for proof in counting)
    for waiver in waivers:
        shown = any_machine if waiver.emulated else real
        if waiver.covers(entry) and _reaches(shown, waiver.level):
            return Verdict(entry, demanded, shown, waiver)
    return Verdict(entry, demanded, real)


def check_levels(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """Yield each wheel that shows less than is demanded of it."""
    for verdict in verdicts:
        if verdict.waiver is None and not _reaches(verdict.shown, verdict.demanded):
            name, reason = verdict.entry.filename, _explain(verdict)
            yield f"{name}: {verdict.shown}, where {verdict.demanded} is demanded{reason}"


def check_origins(entries: Iterable[Entry], commits: Collection[str]) -> Iterator[str]:
    """Yield why proofs do not count, with the wheels that they are of."""
    proofs = ((entry.filename, proof) for entry in entries for proof in entry.proofs())
    faults = group((fault, name) for name, proof in proofs for fault in find_faults(proof, commits))
    yield from (f"{fault}: {fit(dict.fromkeys(names))}" for fault, names in faults.items())


def check_built(entries: Collection[Entry], commits: Collection[str]) -> Iterator[str]:
    """Yield why it is not known, or not one thing, what the wheels were built from."""
    faults = group((describe_commit_fault(entry.built, commits), entry.filename) for entry in entries)
    yield from (f"built {fault}: {fit(names)}" for fault, names in faults.items() if fault)
    built = sorted({entry.built.commit for entry in entries if entry.built.commit})
    if built[1:]:
        shown = fit(commit[:12] for commit in built)
        yield f"built from {len(built)} commits: {shown}"


def find_faults(proof: Proof, commits: Collection[str]) -> Iterator[str]:
    """Yield why a proof does not count."""
    if proof.level is not proof.shown_level():
        yield f"claims {proof.level}, but its programs show {proof.shown_level()}"
    for python in proof.pythons:
        yield from (f"{result.program} failed on {python.python}" for result in python.failures())
    if fault := describe_commit_fault(proof.origin, commits):
        yield f"proven {fault}"


def _reaches(shown: Level, demanded: Level) -> bool:
    return ORDER.index(shown) >= ORDER.index(demanded)


def _explain(verdict: Verdict) -> str:
    """Return, in brackets, why no more was shown; nothing if more was, in a proof that does not count."""
    if highest(proof.shown_level() for proof in verdict.entry.proofs()) is not verdict.shown:
        return ""
    pythons = [python for proof in verdict.entry.proofs() for python in proof.pythons]
    reasons = dict.fromkeys(reason for python in pythons for reason in (*python.missed, python.reason) if reason)
    return f" ({shorten(reasons, 1, '; ')})" if reasons else ""
