# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find in `dist/` the wheels that a tag stands for, and nothing else that lies there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.attest.pep740 import ATTESTATION_SUFFIX
from pjrtwheel.dist.mixed_sets import check_sets
from pjrtwheel.dist.release_file import RELEASE_FILENAME, Entry, read_entries
from pjrtwheel.errors import AttestError, UsageError, shorten
from pjrtwheel.release.known import list_releases, load_release
from pjrtwheel.release.lock import make_lock
from pjrtwheel.release.model import Release
from pjrtwheel.wheel.names import make_name

SELECTOR = "jaxlib-select"
_SELECTOR_TAG = "select-v"
VARIANTS_SUFFIX = "-variants.json"
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ReleaseSet:
    """What a tag stands for.

    Attributes:
        tag: The tag.
        version: Version of all wheels.
        release: The JAX release; nothing for `jaxlib-select`, which belongs to none.
        entries: The wheels, in order of file name.
        others: Names of the files that go with the wheels: the list of variants, attestations.
    """

    tag: str
    version: str
    release: Release | None
    entries: tuple[Entry, ...]
    others: tuple[str, ...] = ()


def tag_of(release: Release) -> str:
    """Return the tag of a release's set: `v0.11.2+split.1`, or `v0.11.2` and then `v0.11.2+2` without a label."""
    number = "" if release.label or release.build == 1 else f"+{release.build}"
    return f"v{release.set_version}{number}"


def find_release_set(root: Path, tag: str, dist: Path) -> ReleaseSet:
    """Return what a tag stands for, out of a folder with `release.json`.

    Raises:
        UsageError: No release of the repository has this tag, or the folder has none of its wheels.
        AttestError: Its wheels were made from another release file than the one in the repository.
        WheelError: They are of several sets, or `release.json` is damaged.
    """
    release = None if tag.startswith(_SELECTOR_TAG) else _find_release(root, tag)
    version = release.set_version if release else tag.removeprefix(_SELECTOR_TAG)
    listed = read_entries(dist).values()
    entries = tuple(
        entry
        for entry in sorted(listed, key=lambda entry: entry.filename)
        if entry.version == version and (entry.distribution == SELECTOR) == (release is None)
    )
    if not entries:
        raise UsageError(
            f"no wheel of {tag} in {dist}",
            cause=f"its {RELEASE_FILENAME} lists {', '.join(sorted({entry.version for entry in listed})) or 'nothing'}",
            remedy="build the wheels first, or give their folder with --dist",
        )
    check_sets(entries, f"the release {tag}")
    if release:
        _check_locks(release, entries)
    return ReleaseSet(tag, version, release, entries, _find_others(dist, entries))


def _find_release(root: Path, tag: str) -> Release:
    known = {tag_of(release): release for release in (load_release(root, name) for name in list_releases(root))}
    if tag not in known:
        raise UsageError(
            f"unknown tag: {tag!r}", remedy=f"known: {', '.join(known) or 'none'}, and {_SELECTOR_TAG}VERSION"
        )
    return known[tag]


def has_library(entry: Entry) -> bool:
    """Return whether a wheel holds libraries, which a provider gave; others are pure Python."""
    return entry.provider not in {"", "none"}


def _check_locks(release: Release, entries: tuple[Entry, ...]) -> None:
    """Make sure that the inputs which will be named are those of the wheels: a lock is a hash of the release file."""
    made = {entry.provider: make_lock(release, entry.provider).lock_id for entry in entries if has_library(entry)}
    others = [
        entry.filename
        for entry in entries  # those without a library have the lock of the others
        if entry.lock_id not in ({made[entry.provider]} if has_library(entry) else made.values())
    ]
    if others:
        raise AttestError(
            f"not made from this {release.path.name}: {shorten(others, _SHOWN)}",
            cause="the release was pinned again after they were built, or they came from elsewhere",
            remedy="build them again, or check out the commit that they were built from",
        )


def _find_others(dist: Path, entries: tuple[Entry, ...]) -> tuple[str, ...]:
    """Return the files next to wheels that are published with them: lists of variants (PEP 825), attestations."""
    stems = {make_name(entry.distribution, entry.version, "").stem for entry in entries}
    names = {f"{stem}{VARIANTS_SUFFIX}" for stem in stems}
    names |= {f"{entry.filename}{ATTESTATION_SUFFIX}" for entry in entries}
    return tuple(sorted(name for name in names if (dist / name).is_file()))
