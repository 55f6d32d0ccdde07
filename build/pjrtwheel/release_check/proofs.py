# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Hold the proofs of wheels to the policy: their levels, and from which commit and when they are."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from pjrtwheel.errors import fit, shorten
from pjrtwheel.record.entries import Entry
from pjrtwheel.record.origin import describe_commit_fault, describe_date_fault
from pjrtwheel.record.proofs import ORDER, Level, Proof, highest
from pjrtwheel.release_check.policy import Demand, Waiver
from pjrtwheel.sets import BINDINGS, PURE_PYTHON


@dataclass(frozen=True, slots=True)
class History:
    """What proofs and builds are held to.

    Attributes:
        commits: Those commits of proofs and builds that are the release's own, or came before it.
        now: This moment, by the clock.
    """

    commits: Collection[str]
    now: datetime


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

    @property
    def suffices(self) -> bool:
        """Whether the wheel may be published."""
        return self.waiver is not None or _reaches(self.shown, self.demanded)


def choose_demand(demand: Demand, entry: Entry, with_plugin: Collection[str]) -> Level:
    """Return the level that a wheel must have, given the platforms that plugins are promised for."""
    if entry.distribution in PURE_PYTHON:
        return demand.pure_python
    if entry.distribution != BINDINGS:
        return demand.plugin
    return demand.jaxlib if entry.platform in with_plugin else demand.jaxlib_alone


def judge(entry: Entry, demanded: Level, waivers: Sequence[Waiver], history: History) -> Verdict:
    """Return whether the proofs of a wheel suffice, with the help of the waivers that hold today.

    On an emulated machine nothing is shown of a device; only a waiver makes its proofs count.
    """
    counting = [proof for proof in entry.proofs() if not list(find_faults(proof, history))]
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
        if not verdict.suffices:
            name, reason = verdict.entry.filename, _explain(verdict)
            yield f"{name}: {verdict.shown}, where {verdict.demanded} is demanded{reason}"


def check_origins(entries: Iterable[Entry], history: History) -> Iterator[str]:
    """Yield why proofs do not count, with the wheels that they are of."""
    found: dict[str, list[str]] = {}
    for entry in entries:
        for proof in entry.proofs():
            for fault in find_faults(proof, history):
                found.setdefault(fault, []).append(entry.filename)
    for fault, names in found.items():
        yield f"{fault}: {fit(dict.fromkeys(names))}"


def check_built(entries: Iterable[Entry], history: History) -> Iterator[str]:
    """Yield why it is not known, or not one thing, what the wheels were built from."""
    found: dict[str, list[str]] = {}
    for entry in entries:
        if fault := describe_commit_fault(entry.built, history.commits):
            found.setdefault(f"built {fault}", []).append(entry.filename)
    for fault, names in found.items():
        yield f"{fault}: {fit(names)}"
    commits = sorted({entry.built.commit for entry in entries if entry.built.commit})
    if commits[1:]:
        shown = fit(commit[:12] for commit in commits)
        yield f"built from {len(commits)} commits: {shown}"


def find_faults(proof: Proof, history: History) -> Iterator[str]:
    """Yield why a proof does not count."""
    if proof.level is not proof.shown_level():
        yield f"claims {proof.level}, but its programs show {proof.shown_level()}"
    if fault := describe_commit_fault(proof.origin, history.commits):
        yield f"proven {fault}"
    if fault := describe_date_fault(proof.origin.date, history.now):
        yield fault


def _reaches(shown: Level, demanded: Level) -> bool:
    return ORDER.index(shown) >= ORDER.index(demanded)


def _explain(verdict: Verdict) -> str:
    """Return, in brackets, why no more was shown; nothing if more was, in a proof that does not count."""
    if highest(proof.shown_level() for proof in verdict.entry.proofs()) is not verdict.shown:
        return ""
    pythons = [python for proof in verdict.entry.proofs() for python in proof.pythons]
    reasons = dict.fromkeys(reason for python in pythons for reason in (*python.missed, python.reason) if reason)
    return f" ({shorten(reasons, 1, '; ')})" if reasons else ""
