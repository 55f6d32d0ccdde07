# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find in `dist/` the wheels that a tag stands for, and nothing else that lies there."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.errors import AttestError, UsageError, fit, list_choices
from pjrtwheel.record.entries import RELEASE_FILENAME, Entry, check_sets, read_entries, require_record
from pjrtwheel.release.model import Release
from pjrtwheel.sets import SELECTOR
from pjrtwheel.sets.tags import Tag, list_tagged, parse_tag
from pjrtwheel.wheel.names import ATTESTATION_SUFFIX, PROVENANCE_SUFFIX, VARIANTS_SUFFIX, make_name


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


def find_release_set(root: Path, tag: str, dist: Path) -> ReleaseSet:
    """Return what a tag stands for, out of a folder with `release.json`.

    Raises:
        UsageError: No release of the repository has this tag, or the folder has none of its wheels.
        AttestError: A wheel that `release.json` lists is not there.
        WheelError: They are of several sets, or `release.json` is damaged.
    """
    require_record(dist)
    said, known = parse_tag(tag), list_tagged(root)
    is_selector = said.selector and str(said) == tag
    if tag not in known and not is_selector:
        choices = [*known, str(Tag("VERSION", selector=True))]
        raise UsageError(f"unknown tag: {tag!r}", remedy=f"known: {list_choices(choices, tag)}")
    release = None if is_selector else known[tag]
    version = release.set_version if release else said.version
    listed = read_entries(dist).values()
    entries = tuple(
        entry
        for entry in sorted(listed, key=lambda entry: entry.filename)
        if entry.version == version and (entry.distribution == SELECTOR) == (release is None)
    )
    if not entries:
        session = "build_BACKEND" if release else "select"
        raise UsageError(
            f"no wheel of {tag} in {dist}",
            cause=f"its {RELEASE_FILENAME} lists {fit(sorted({entry.version for entry in listed})) or 'nothing'}",
            remedy=f"build it first: ./noxw {session}, or give the folder of its wheels with --dist",
        )
    if missing := [entry.filename for entry in entries if not (dist / entry.filename).is_file()]:
        remedy = f"./noxw release_check --tag {tag} says how to get what is missing"
        raise AttestError(f"{dist} lacks {fit(missing)}", cause=f"its {RELEASE_FILENAME} lists it", remedy=remedy)
    check_sets(entries, f"the release {tag}")
    present = {path.name for path in dist.iterdir() if path.is_file()}
    return ReleaseSet(tag, version, release, entries, find_others(entries, present))


def find_others(entries: Collection[Entry], present: Collection[str]) -> tuple[str, ...]:
    """Return the files next to wheels that go out with them: lists of variants (PEP 825), attestations (PEP 740)."""
    names = {f"{make_name(entry.distribution, entry.version, '').stem}{VARIANTS_SUFFIX}" for entry in entries}
    names |= {f"{entry.filename}{suffix}" for entry in entries for suffix in (ATTESTATION_SUFFIX, PROVENANCE_SUFFIX)}
    return tuple(sorted(names & set(present)))
