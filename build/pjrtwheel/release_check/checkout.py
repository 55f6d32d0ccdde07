# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Hold the checkout to the tag: its commit, its changes, its changelog."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.errors import fit
from pjrtwheel.record.origin import ask_git, is_in_history, list_changes
from pjrtwheel.release_check.problems import Kind, Problem

CHANGELOG = "CHANGELOG.md"


@dataclass(frozen=True, slots=True)
class RepositoryState:
    """What git and the changelog say.

    Attributes:
        head: The commit that is checked out; empty outside git.
        tagged: The commit that the tag is on; empty if there is no such tag.
        changes: Files that differ from the commit, or that it does not have; nothing if git cannot tell.
        ancestors: Those of some commits that are in the history of the tag, or without one in that of the checkout.
        changelog: The text of the changelog.
    """

    head: str
    tagged: str
    changes: tuple[str, ...] | None
    ancestors: frozenset[str]
    changelog: str


def look_at_checkout(root: Path, tag: str, commits: Iterable[str]) -> RepositoryState:
    """Ask git about a repository, its tag and some commits."""
    head = ask_git(root, "rev-parse", "--verify", "--quiet", "HEAD") or ""
    tagged = ask_git(root, "rev-parse", "--verify", "--quiet", f"refs/tags/{tag}^{{commit}}") or ""
    of, known = tagged or head, set(filter(re.compile("[0-9a-f]{40,64}").fullmatch, commits))
    ancestors = {commit for commit in known if is_in_history(root, commit, of)}
    path = root / CHANGELOG
    text = path.read_text("utf-8") if path.is_file() else ""
    return RepositoryState(head, tagged, list_changes(root), frozenset(ancestors), text)


def check_tree(checkout: RepositoryState, tag: str) -> Iterator[Problem]:
    """Yield why the checkout is not what the tag names."""
    if not checkout.head:
        yield Problem(Kind.TREE, "the repository is not a checkout of git")
        return
    if not checkout.tagged:
        yield Problem(Kind.TAG, f"there is no tag {tag!r}")
    elif checkout.tagged != checkout.head:
        yield Problem(
            Kind.TREE,
            f"tag {tag} is on {checkout.tagged[:12]}, while {checkout.head[:12]} is checked out",
            f"check the tag out (git checkout {tag}), or set it on this commit (git tag --force {tag})",
        )
    if checkout.changes is None:
        yield Problem(Kind.TREE, "git cannot tell what differs from the commit")
    elif checkout.changes:
        yield Problem(Kind.TREE, f"not as in the commit: {fit(checkout.changes)}")


def check_changelog(changelog: str, names: Iterable[str]) -> Iterator[Problem]:
    """Yield a problem unless a heading or an entry of the changelog has one of some names as a word."""
    listed = tuple(names)
    if not any(re.search(rf"(?<![\w.+-]){re.escape(name)}(?![\w+-]|\.\w)", changelog) for name in listed):
        yield Problem(Kind.CHANGELOG, f"no entry of {CHANGELOG} names {' or '.join(listed)}")
