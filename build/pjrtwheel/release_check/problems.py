# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with a release: kinds of problems, each with an exit status and a remedy, and their report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from pjrtwheel.errors import count

SEVERAL = 10  # the exit status if problems are of more than one kind


class ProblemKind(Enum):
    """What is wrong: the exit status if nothing else is, a heading, and what fixes it."""

    TAG = 20, "tag", "take the tag of what is in the repository, and set it on this commit: git tag TAG"
    TREE = 21, "working tree", "commit or remove what differs, then tag that commit"
    CHANGELOG = 22, "changelog", "add an entry to CHANGELOG.md that names the release"
    MISSING = 23, "missing wheels", "build them (./noxw build_BACKEND), or bring them: ./noxw merge"
    UNLISTED = 24, "wheels that do not belong to the release", "remove them, or give another folder with --dist"
    ALTERED = 25, "altered or renamed wheels", "copy the folder again, or build these again"
    LOCK = 26, "locks", "build all wheels of the set again from this release file"
    LEVEL = 27, "proofs", "prove them: ./noxw smoke_BACKEND; or waive it with a reason in releases/policy.toml"
    ORIGIN = (
        28,
        "proofs that do not count",
        "prove them again at a commit of this release; if the clone is shallow, git fetch --unshallow",
    )
    POLICY = 29, "policy", "decide anew, and write it into releases/policy.toml"
    SIZE = 30, "sizes", "make the wheel smaller, or note the reason in releases/policy.toml"
    DESTINATION = 31, "destination", "choose another one with --to, or change releases/destinations.toml"
    BUILT = 32, "commits", "build all wheels at one commit, the tag's or one before it; proofs of the same bytes stay"

    @property
    def status(self) -> int:
        """The exit status."""
        return self.value[0]

    @property
    def heading(self) -> str:
        """What problems of this kind are about."""
        return self.value[1]

    @property
    def remedy(self) -> str:
        """What fixes them."""
        return self.value[2]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, as a sentence, and what fixes it if that is not what fixes all of its kind."""

    kind: ProblemKind
    text: str
    remedy: str = ""


def format_problems(problems: Iterable[Problem]) -> Iterator[str]:
    """Yield the lines of a report: a heading for each kind, its problems, and what fixes them."""
    listed = list(dict.fromkeys(problems))
    for kind in ProblemKind:
        if found := [problem for problem in listed if problem.kind is kind]:
            yield f"{kind.heading} ({count(len(found), 'problem')}, status {kind.status})"
            yield from (f"  {problem.text}" for problem in found)
            yield from dict.fromkeys(f"  fix: {problem.remedy or kind.remedy}" for problem in found)


def status_of(problems: Iterable[Problem]) -> int:
    """Return the exit status: 0 without problems, that of their kind, or `SEVERAL`."""
    statuses = {problem.kind.status for problem in problems}
    return SEVERAL if len(statuses) > 1 else next(iter(statuses), 0)


def describe_statuses() -> str:
    """Return what each exit status means, a line each."""
    lines = [f"  {kind.status}  {kind.heading}" for kind in ProblemKind]
    return "\n".join(["   0  the release can be published", *lines, f"  {SEVERAL}  several of these"])
