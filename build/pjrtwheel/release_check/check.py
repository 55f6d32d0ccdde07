# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run all checks on a release: every problem is found at once, whatever else is wrong but the tag itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.attest.make import list_documents
from pjrtwheel.errors import UsageError, count, fit
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.publish.destinations import Destination, check_limits
from pjrtwheel.record.entries import RELEASE_FILENAME
from pjrtwheel.record.proofs import Level
from pjrtwheel.release.known import load_release
from pjrtwheel.release_check.candidate import CHANGELOG, Candidate, gather
from pjrtwheel.release_check.policy import check_growth, check_policy, holds, measure
from pjrtwheel.release_check.problems import Problem, ProblemKind
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
from pjrtwheel.sets.projects import AUTO, BUILD_SESSIONS
from pjrtwheel.wheel.names import find_name
from pjrtwheel.workflow_tags import read_tag


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
        version = read_tag(root, tag)
    except UsageError as error:
        text = "; ".join(filter(None, (error.what, error.cause, error.remedy)))
        return CheckResult((Problem(ProblemKind.TAG, text),))
    candidate = gather(root, tag, load_release(root, version) if version else None, dist, destination)
    history = History(candidate.checkout.ancestors, candidate.now)
    waivers = [waiver for waiver in candidate.policy.waivers if holds(waiver, candidate.now.date())]
    demands = {
        entry.filename: choose_demand(candidate.policy.demand, entry, candidate.promise.with_plugin)
        for entry in candidate.entries
    }
    verdicts = [judge(entry, demands[entry.filename], waivers, history) for entry in candidate.entries]
    return CheckResult(
        tuple(find_problems(candidate, verdicts, history)),
        tuple(list_unneeded(candidate.policy.waivers, verdicts)),
        summarize(candidate, verdicts),
    )


def find_problems(candidate: Candidate, verdicts: Sequence[Verdict], history: History) -> Iterator[Problem]:
    """Yield everything that is wrong with a release."""
    yield from check_repository(candidate)
    yield from check_presence(candidate)
    yield from check_unlisted(candidate)
    yield from check_bytes(candidate)
    yield from check_locks(candidate)
    yield from check_policy(candidate.policy, candidate.projects, PLATFORMS, candidate.now.date())
    yield from check_levels(verdicts)
    yield from check_built(candidate.entries, history)
    yield from check_origins(candidate.entries, history)
    yield from check_growth(measure(candidate.tag, candidate.entries), candidate.baselines, candidate.policy)
    yield from check_destination(candidate)


def check_repository(candidate: Candidate) -> Iterator[Problem]:
    """Yield why the checkout is not what the tag names, or its changelog does not name the release as a word."""
    checkout, tag = candidate.checkout, candidate.tag
    if not checkout.head:
        yield Problem(ProblemKind.TREE, "the repository is not a checkout of git")
    elif not checkout.tagged:
        yield Problem(ProblemKind.TAG, f"there is no tag {tag!r}")
    elif checkout.tagged != checkout.head:
        yield Problem(
            ProblemKind.TREE,
            f"tag {tag} is on {checkout.tagged[:12]}, while {checkout.head[:12]} is checked out",
            f"check the tag out (git checkout {tag}), or set it on this commit (git tag --force {tag})",
        )
    if checkout.head and checkout.changes is None:
        yield Problem(ProblemKind.TREE, "git cannot tell what differs from the commit")
    elif checkout.changes:
        yield Problem(ProblemKind.TREE, f"not as in the commit: {fit(checkout.changes)}")
    names = (tag, *candidate.promise.names)
    if not any(re.search(rf"(?<![\w.+-]){re.escape(name)}(?![\w+-]|\.\w)", checkout.changelog) for name in names):
        yield Problem(ProblemKind.CHANGELOG, f"no entry of {CHANGELOG} names {' or '.join(names)}")


def check_presence(candidate: Candidate) -> Iterator[Problem]:
    """Yield what is promised and not there, or not listed, and under which name its bytes are."""
    promise, listed, present = candidate.promise, candidate.listed, candidate.present
    if promise.fault:
        yield Problem(ProblemKind.MISSING, promise.fault)
    for name in promise.documents:
        if name not in candidate.documents:
            yield _missing(name)
    for name in sorted(candidate.altered):
        text = f"{name} is not the list that follows from the wheels, which says what installers take on which machine"
        yield Problem(ProblemKind.ALTERED, text, f"make it again: ./noxw {BUILD_SESSIONS[AUTO]}")
    by_digest = {file.sha256: name for name, file in present.items() if name not in listed}
    for name in sorted(promise.wheels):
        other = by_digest.get(listed[name].sha256) if name in listed else None
        if name not in present and other:
            yield Problem(ProblemKind.ALTERED, f"{name} was renamed to {other}")
        elif name not in present:
            yield _missing(name)
        elif name not in listed:
            yield Problem(ProblemKind.MISSING, f"{name} is there, but {RELEASE_FILENAME} does not describe it")


def _missing(name: str) -> Problem:
    """Return the problem of a file that is not there: a wheel, or the list of the variants of `jaxlib-auto`."""
    wheel = find_name(name)
    session = BUILD_SESSIONS.get(wheel.distribution if wheel else AUTO)
    return Problem(ProblemKind.MISSING, f"{name} is not there", f"build it: ./noxw {session}" if session else "")


def check_unlisted(candidate: Candidate) -> Iterator[Problem]:
    """Yield each wheel that nobody promised: of the version of the set, or not in `release.json` at all."""
    promise, listed = candidate.promise, candidate.listed
    for name in sorted({*listed, *candidate.present} - promise.wheels):
        parts = find_name(name)
        if name not in listed:
            yield Problem(ProblemKind.UNLISTED, f"{name} is not described by {RELEASE_FILENAME}")
        elif parts is None or promise.version in {parts.version, listed[name].version}:
            yield Problem(ProblemKind.UNLISTED, f"{name} is not promised by the release")


def check_bytes(candidate: Candidate) -> Iterator[Problem]:
    """Yield each wheel that is not the one its entry describes, and entries that do not fit the name of the file."""
    for entry in candidate.entries:
        name, parts, file = entry.filename, find_name(entry.filename), candidate.present.get(entry.filename)
        described = parts and (parts.distribution, parts.version, sorted(map(str, parts.tags)))
        if described != (entry.distribution, entry.version, sorted(entry.tags)):
            text = f"{RELEASE_FILENAME} describes {name} as another wheel than its name says"
            yield Problem(ProblemKind.ALTERED, text)
        if file is None:
            continue
        if (file.sha256, file.size) != (entry.sha256, entry.size):
            found, stated = (
                f"{size} bytes of sha256 {digest[:12]}"
                for digest, size in ((file.sha256, file.size), (entry.sha256, entry.size))
            )
            yield Problem(ProblemKind.ALTERED, f"{name} has {found}, {RELEASE_FILENAME} says {stated}")
        if file.fault:
            yield Problem(ProblemKind.ALTERED, file.fault)


def check_locks(candidate: Candidate) -> Iterator[Problem]:
    """Yield each lock of a set that is not the only one, or not one that follows from the release file."""
    expected = candidate.promise.locks
    by_lock: dict[str, list[str]] = {}
    for entry in candidate.entries if expected else ():
        by_lock.setdefault(entry.lock_id, []).append(entry.filename)
    fitting = [lock for lock in by_lock if lock in expected]
    for lock, names in sorted(by_lock.items()):
        shown = f"{names[0]}{f' and {len(names) - 1} more' if names[1:] else ''}"
        if lock not in expected:
            text = f"{shown}: lock {lock[:8] or 'none'} does not follow from the release file"
            yield Problem(ProblemKind.LOCK, text)
        elif len(fitting) > 1:
            yield Problem(ProblemKind.LOCK, f"{shown}: lock {lock[:8]} is one of {len(fitting)} in this set")


def check_destination(candidate: Candidate) -> Iterator[Problem]:
    """Yield why the destination would not take the release."""
    place = candidate.destination
    if place is None:
        return
    documents = list_documents(candidate.entries, candidate.documents)
    for text in check_limits(place, candidate.entries, documents):
        yield Problem(ProblemKind.DESTINATION, text)
    if candidate.promise.labelled and not place.labels:
        text = f"it asks for {candidate.promise.labelled[0]}, and {place.name} takes no local version labels"
        yield Problem(ProblemKind.DESTINATION, text)


def summarize(candidate: Candidate, verdicts: Sequence[Verdict]) -> str:
    """Return one line, such as `v1.2: 28 wheels, 2033.1 MB, 9 device, 3 aot, 16 static (17 by waivers)`."""
    levels = Counter(verdict.shown for verdict in verdicts)
    size = sum(entry.size for entry in candidate.entries) / 1e6
    parts = [count(len(verdicts), "wheel"), f"{size:.1f} MB"]
    parts += [f"{levels[level]} {level}" for level in reversed(Level) if levels[level]]
    waived = sum(verdict.waiver is not None for verdict in verdicts)
    place = f", for {candidate.destination.name}" if candidate.destination else ""
    return f"{candidate.tag}: {', '.join(parts)}{f' ({waived} by waivers)' if waived else ''}{place}"
