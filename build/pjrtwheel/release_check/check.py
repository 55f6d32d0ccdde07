# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run all checks on a release: every problem is found at once, whatever else is wrong but the tag itself."""

import itertools
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

from packaging.utils import canonicalize_name

from pjrtwheel.attest.make import list_documents
from pjrtwheel.backend import load_backends
from pjrtwheel.errors import FetchError, UsageError, count, fit, shorten
from pjrtwheel.fetch.listing import list_digests
from pjrtwheel.fetch.settings import read_settings
from pjrtwheel.grouping import group
from pjrtwheel.publish.destinations import Destination, check_limits, load_destinations
from pjrtwheel.record.entries import RELEASE_FILENAME, read_entries
from pjrtwheel.record.proofs import Level, Outcome
from pjrtwheel.release_check.candidate import CHANGELOG, Candidate, gather
from pjrtwheel.release_check.policy import (
    Verdict,
    check_built,
    check_levels,
    check_origins,
    check_policy,
    choose_demand,
    judge,
    load_policy,
)
from pjrtwheel.sets import our_names
from pjrtwheel.sets.tags import find_tagged
from pjrtwheel.wheel.names import find_name

NOT_YET = 10  # the exit status if a release must not be published


class ProblemKind(Enum):
    """What is wrong, as a heading, and what fixes it."""

    TAG = "tag", "take the tag of what is in the repository, and set it on this commit: git tag TAG"
    TREE = "working tree", "commit or remove what differs, then check out the tag, or set it on this commit"
    CHANGELOG = "changelog", "add an entry to CHANGELOG.md that names the release"
    MISSING = "missing wheels", "build them (./noxw build_BACKEND, auto, select), or bring them: ./noxw merge"
    UNLISTED = "wheels that do not belong to the release", "remove them, or give another folder with --dist"
    ALTERED = "altered wheels", "copy the folder again, or build these again"
    LOCK = "locks", "build all wheels of the set again from this release file"
    LEVEL = "proofs", "prove them: ./noxw smoke_BACKEND; or waive it with a reason in releases/policy.toml"
    ORIGIN = (
        "proofs that do not count",
        "prove them again at a commit of this release; if the clone is shallow, git fetch --unshallow",
    )
    POLICY = "policy", "decide again, and write it into releases/policy.toml"
    DESTINATION = "destination", "choose another one with --to, or change releases/destinations.toml"
    BUILT = "commits", "build all wheels at one commit, the tag's or one before it; proofs of the same bytes stay"

    def __init__(self, heading: str, remedy: str) -> None:
        """Give its parts their names."""
        self.heading, self.remedy = heading, remedy


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, as a sentence."""

    kind: ProblemKind
    text: str


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What the checks found.

    Attributes:
        problems: What must not be published like that.
        summary: One line on the release; empty if it could not be read.
    """

    problems: tuple[Problem, ...]
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
        release = find_tagged(root, tag, (entry.version for entry in read_entries(dist).values()))
    except UsageError as error:
        text = "; ".join(filter(None, (error.what, error.cause, error.remedy)))
        return CheckResult((Problem(ProblemKind.TAG, text),))
    candidate = gather(root, tag, release, dist)
    policy, commits, entries = load_policy(root), candidate.checkout.ancestors, candidate.entries
    today = datetime.now(UTC).date().isoformat()
    waivers = [waiver for waiver in policy.waivers if waiver.holds(today)]
    verdicts = [
        judge(entry, choose_demand(policy.demand, entry, candidate.promise.with_plugin), waivers, commits)
        for entry in entries
    ]
    by_kind = {
        ProblemKind.UNLISTED: check_unlisted(candidate),
        ProblemKind.ALTERED: check_bytes(candidate),
        ProblemKind.LOCK: check_locks(candidate),
        ProblemKind.POLICY: check_policy(policy, today),
        ProblemKind.LEVEL: check_levels(verdicts),
        ProblemKind.BUILT: check_built(entries, commits),
        ProblemKind.ORIGIN: check_origins(entries, commits),
        ProblemKind.DESTINATION: check_destination(candidate, destination) if destination else (),
    }
    problems = (
        *check_repository(candidate),
        *check_presence(candidate),
        *(Problem(kind, text) for kind, texts in by_kind.items() for text in texts),
    )
    place = f", for {destination.name}" if destination else ""
    return CheckResult(problems, f"{tag}: {summarize(verdicts)}{place}")


def check_repository(candidate: Candidate) -> Iterator[Problem]:
    """Yield why the checkout is not what the tag names, or its changelog does not name the release as a word."""
    checkout, tag = candidate.checkout, candidate.tag
    if not checkout.head:
        yield Problem(ProblemKind.TREE, "the repository is not a checkout of git")
    elif not checkout.tagged:
        yield Problem(ProblemKind.TAG, f"there is no tag {tag!r}")
    elif checkout.tagged != checkout.head:
        text = f"tag {tag} is on {checkout.tagged[:12]}, while {checkout.head[:12]} is checked out"
        yield Problem(ProblemKind.TREE, text)
    if checkout.head and checkout.changes is None:
        yield Problem(ProblemKind.TREE, "git cannot tell what differs from the commit")
    elif checkout.changes:
        yield Problem(ProblemKind.TREE, f"not as in the commit: {fit(checkout.changes)}")
    names = (tag, *candidate.promise.names)
    if not any(re.search(rf"(?<![\w.+-]){re.escape(name)}(?![\w+-]|\.\w)", checkout.changelog) for name in names):
        yield Problem(ProblemKind.CHANGELOG, f"no entry of {CHANGELOG} names {' or '.join(names)}")


def check_presence(candidate: Candidate) -> Iterator[Problem]:
    """Yield what is promised and not there, or not listed."""
    promise, listed, present = candidate.promise, candidate.listed, candidate.present
    if promise.fault:
        yield Problem(ProblemKind.MISSING, promise.fault)
    for name in sorted(candidate.altered):
        text = f"{name} is not the list that follows from the wheels, which says what installers take on which machine"
        yield Problem(ProblemKind.ALTERED, text)
    for name in promise.documents.keys() - set(candidate.documents):
        yield Problem(ProblemKind.MISSING, f"{name} is not there")
    for name in sorted(promise.wheels):
        if name not in present:
            yield Problem(ProblemKind.MISSING, f"{name} is not there")
        elif name not in listed:
            yield Problem(ProblemKind.MISSING, f"{name} is there, but {RELEASE_FILENAME} does not describe it")


def check_unlisted(candidate: Candidate) -> Iterator[str]:
    """Yield each wheel that nobody promised: of the version of the set, or not in `release.json` at all."""
    promise, listed = candidate.promise, candidate.listed
    for name in sorted({*listed, *candidate.present} - promise.wheels):
        parts = find_name(name)
        if name not in listed:
            yield f"{name} is not described by {RELEASE_FILENAME}"
        elif parts is None or promise.version in {parts.version, listed[name].version}:
            yield f"{name} is not promised by the release"


def check_bytes(candidate: Candidate) -> Iterator[str]:
    """Yield each wheel that is not the one its entry describes, and entries that do not fit the name of the file."""
    for entry in candidate.entries:
        name, file = entry.filename, candidate.present.get(entry.filename)
        if not entry.is_as_named:
            yield f"{RELEASE_FILENAME} describes {name} as another wheel than its name says"
        if file is None:
            continue
        if file.sha256 != entry.sha256:
            yield f"{name} has sha256 {file.sha256[:12]}, {RELEASE_FILENAME} says {entry.sha256[:12]}"
        if file.fault:
            yield file.fault


def check_locks(candidate: Candidate) -> Iterator[str]:
    """Yield each lock of a set that is not the only one, or not one that follows from the release file."""
    expected = candidate.promise.locks
    by_lock = group((entry.lock_id, entry.filename) for entry in candidate.entries if expected)
    fitting = [lock for lock in by_lock if lock in expected]
    for lock, names in sorted(by_lock.items()):
        what = f"{shorten(names, 1)}: lock {lock[:8] or 'none'}"
        if lock not in expected:
            yield f"{what} does not follow from the release file"
        elif len(fitting) > 1:
            yield f"{what} is one of {len(fitting)} in this set"


def check_destination(candidate: Candidate, place: Destination) -> Iterator[str]:
    """Yield why a destination would not take the release."""
    yield from check_limits(place, candidate.entries, list_documents(candidate.entries, candidate.documents))
    if candidate.promise.labelled and not place.labels:
        yield f"it asks for {candidate.promise.labelled[0]}, and {place.name} takes no local version labels"


def summarize(verdicts: Sequence[Verdict]) -> str:
    """Return one line, such as `28 wheels, 2033.1 MB, 9 device, 3 aot, 16 static (17 by waivers)`."""
    levels = Counter(verdict.shown for verdict in verdicts)
    size = sum(verdict.entry.size for verdict in verdicts) / 1e6
    parts = [count(len(verdicts), "wheel"), f"{size:.1f} MB"]
    parts += [f"{levels[level]} {level}" for level in reversed(Level) if levels[level]]
    waived = sum(verdict.waiver is not None for verdict in verdicts)
    expected = sorted({name for verdict in verdicts for name in verdict.entry.proof.expected_failures()})
    text = f"{', '.join(parts)}{f' ({waived} by waivers)' if waived else ''}"
    return f"{text}, {count(len(expected), 'program')} {Outcome.EXPECTED}: {fit(expected)}" if expected else text


def format_problems(problems: Iterable[Problem]) -> Iterator[str]:
    """Yield the lines of a report: a heading for each kind, its problems, and what fixes them."""
    listed = list(dict.fromkeys(problems))
    for kind in ProblemKind:
        if found := [problem for problem in listed if problem.kind is kind]:
            yield f"{kind.heading} ({count(len(found), 'problem')})"
            yield from (f"  {problem.text}" for problem in found)
            yield f"  fix: {kind.remedy}"


def warn_of_names(root: Path, digests: Collection[str]) -> None:
    """Print a warning of names that are free, or somebody else's, at the first index of pip's configuration.

    Ours are those of the public destination's `names`, and those of which a file with one of these digests is there.
    """
    settings, free, taken = read_settings(), list[str](), list[str]()
    names = our_names(load_backends(root).values())
    public = (place.names for place in load_destinations(root).values() if place.opt_in)
    ours = set(map(canonicalize_name, itertools.chain(*public)))
    try:
        for name in sorted(names) if settings.urls else ():
            found = list_digests(name, settings)
            if found is None:
                free.append(name)
            elif name not in ours and found.isdisjoint(digests):
                taken.append(name)
    except FetchError as error:
        print(f"warning: who has our names on the package index is not known: {error.cause}", file=sys.stderr)
    for listed, problem in ((free, "anybody may register"), (taken, "somebody else has")):
        if listed:
            print(f"warning: {problem} names of ours on the package index: {fit(listed)}", file=sys.stderr)
