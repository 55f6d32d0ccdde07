# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run all checks on a release: every problem is found at once, whatever else is wrong but the tag itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.attest.make import list_documents
from pjrtwheel.errors import UsageError, count
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.publish.destinations import Destination, check_limits
from pjrtwheel.record.proofs import Level
from pjrtwheel.release.known import load_release
from pjrtwheel.release_check import wheels
from pjrtwheel.release_check.candidate import Candidate, gather
from pjrtwheel.release_check.checkout import check_changelog, check_tree
from pjrtwheel.release_check.policy import check_policy, holds
from pjrtwheel.release_check.problems import Kind, Problem
from pjrtwheel.release_check.proofs import (
    History,
    Verdict,
    check_built,
    check_levels,
    check_origins,
    choose_demand,
    judge,
    list_unneeded,
)
from pjrtwheel.release_check.sizes import check_growth, measure
from pjrtwheel.workflows.tags import read_tag


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What the checks found.

    Attributes:
        problems: What must not be published like that.
        warnings: What a person should look at.
        summary: One line on the release; empty if it could not be read.
    """

    problems: tuple[Problem, ...]
    warnings: tuple[str, ...] = ()
    summary: str = ""


def check_release(root: Path, tag: str, dist: Path, destination: Destination | None = None) -> CheckResult:
    """Check the release of a tag, as it lies in a folder, for a destination if that is known yet.

    Of a tag that nothing in the repository has, the tag alone is judged: all else would be about another release.

    Raises:
        UsageError: The folder has no `release.json`.
        WheelError: It is damaged.
        PinError: The release file, the policy or the sizes are malformed.
    """
    try:
        version = read_tag(root, tag).release
    except UsageError as error:
        return CheckResult((Problem(Kind.TAG, "; ".join(filter(None, (error.what, error.cause, error.remedy)))),))
    release = load_release(root, version) if version else None
    candidate = gather(root, tag, release, dist, destination)
    verdicts = judge_all(candidate)
    unneeded = list_unneeded(candidate.policy.waivers, verdicts)
    return CheckResult(tuple(find_problems(candidate, verdicts)), tuple(unneeded), summarize(candidate, verdicts))


def find_problems(candidate: Candidate, verdicts: Sequence[Verdict]) -> Iterator[Problem]:
    """Yield everything that is wrong with a release."""
    promise, entries, today = candidate.promise, candidate.entries, candidate.now.date()
    yield from check_tree(candidate.checkout, candidate.tag)
    yield from check_changelog(candidate.checkout.changelog, (candidate.tag, *promise.names))
    if promise.fault:
        yield Problem(Kind.MISSING, promise.fault)
    for name in promise.documents:
        if name not in candidate.documents:
            yield wheels.missing(name)
    for name in sorted(candidate.altered):
        yield wheels.altered_list(name)
    yield from wheels.check_presence(promise.wheels, candidate.listed, candidate.present)
    yield from wheels.check_unlisted(promise.wheels, candidate.listed, candidate.present, promise.version)
    yield from wheels.check_bytes(entries, candidate.present)
    if promise.locks:
        yield from wheels.check_locks(entries, promise.locks)
    yield from check_policy(candidate.policy, candidate.projects, PLATFORMS, today)
    yield from check_levels(verdicts)
    yield from check_built(entries, _history(candidate))
    yield from check_origins(entries, _history(candidate))
    yield from check_growth(measure(candidate.tag, entries), candidate.baselines, candidate.policy)
    yield from check_destination(candidate)


def check_destination(candidate: Candidate) -> Iterator[Problem]:
    """Yield why the destination would not take the release."""
    place = candidate.destination
    if place is None:
        return
    documents = list_documents(candidate.entries, candidate.documents)
    for text in check_limits(place, candidate.entries, documents):
        yield Problem(Kind.DESTINATION, text)
    if candidate.promise.labelled and not place.labels:
        shown = candidate.promise.labelled[0]
        yield Problem(Kind.DESTINATION, f"it asks for {shown}, and {place.name} takes no local version labels")


def judge_all(candidate: Candidate) -> list[Verdict]:
    """Return what each wheel shows."""
    policy, history = candidate.policy, _history(candidate)
    waivers = [waiver for waiver in policy.waivers if holds(waiver, candidate.now.date())]
    return [
        judge(entry, choose_demand(policy.demand, entry, candidate.promise.with_plugin), waivers, history)
        for entry in candidate.entries
    ]


def summarize(candidate: Candidate, verdicts: Sequence[Verdict]) -> str:
    """Return one line, such as `v1.2: 28 wheels, 2033.1 MB, 9 device, 3 aot, 16 static (17 by waivers)`."""
    levels = Counter(verdict.shown for verdict in verdicts)
    size = sum(entry.size for entry in candidate.entries) / 1e6
    parts = [count(len(verdicts), "wheel"), f"{size:.1f} MB"]
    parts += [f"{levels[level]} {level}" for level in reversed(Level) if levels[level]]
    waived = sum(verdict.waiver is not None for verdict in verdicts)
    place = f", for {candidate.destination.name}" if candidate.destination else ""
    return f"{candidate.tag}: {', '.join(parts)}{f' ({waived} by waivers)' if waived else ''}{place}"


def _history(candidate: Candidate) -> History:
    return History(candidate.checkout.ancestors, candidate.now)
