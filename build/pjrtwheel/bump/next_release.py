# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find out which release of JAX comes next, by what the package index lists."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from pjrtwheel.errors import PinError
from pjrtwheel.fetch.index import require_index
from pjrtwheel.fetch.listing import list_wheels, read_settings
from pjrtwheel.pin.choose import find_named, offered_versions
from pjrtwheel.release.known import list_releases


@dataclass(frozen=True, slots=True)
class NextRelease:
    """Which release is next.

    Attributes:
        version: The release to take; empty if there is nothing newer.
        before: The newest release of `releases/` that is older; empty if there is none.
        passed_over: Other releases that are newer than all of `releases/`.
        newest: The newest release of `releases/`; empty if there is none.
    """

    version: str
    before: str
    passed_over: tuple[str, ...]
    newest: str


def find_next(root: Path, version: str | None) -> NextRelease:
    """Ask the package index which release is next: the one that is named, or the newest that is not pinned yet.

    Raises:
        FetchError: The index cannot be asked.
        PinError: It has no jax at all, or not the release that is named.
    """
    require_index(os.environ)
    offered = offered_versions(list_wheels("jax", read_settings()))
    if not offered:
        remedy = "see which index pip is configured for: python3 -m pip config list"
        raise PinError("the package index has no release of jax", remedy=remedy)
    known = list_releases(root)
    fresh = newer_versions(offered, known)
    chosen = find_named(version, offered) if version else "".join(fresh[-1:])
    before = previous_release(chosen, known) if chosen else ""
    return NextRelease(chosen, before, tuple(text for text in fresh if text != chosen), "".join(known[-1:]))


def newer_versions(offered: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return the releases that are newer than all known ones, the newest last; pre-releases are passed over.

    >>> newer_versions(["0.11.2", "0.12.0", "0.12.0.1", "0.12.1rc1"], ["0.11.2"])
    ('0.12.0', '0.12.0.1')
    """
    newest = max(map(Version, known), default=Version("0"))
    fresh = (text for text in offered if Version(text) > newest and not Version(text).is_prerelease)
    return tuple(sorted(fresh, key=Version))


def previous_release(version: str, known: Iterable[str]) -> str:
    """Return the newest known release that is older than one; empty if there is none.

    >>> previous_release("0.12.0", ["0.9.3", "0.11.2", "0.12.0", "0.13.0"])
    '0.11.2'
    """
    older = (text for text in known if Version(text) < Version(version))
    return max(older, key=Version, default="")
