# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which set of a release a folder has."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.errors import UsageError, fit
from pjrtwheel.record.entries import RELEASE_FILENAME, Entry, check_sets, name_lists, read_entries, require_record
from pjrtwheel.release.model import Release
from pjrtwheel.sets.tags import PROJECTS, find_project, find_tagged, project_version
from pjrtwheel.wheel.names import ATTESTATION_SUFFIX, PROVENANCE_SUFFIX


@dataclass(frozen=True, slots=True)
class ReleaseSet:
    """What a tag stands for.

    Attributes:
        tag: The tag.
        version: Version of all wheels.
        release: The JAX release; nothing for a project that belongs to none.
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
        WheelError: They are of several sets, or `release.json` is damaged.
    """
    require_record(dist)
    command = find_project(tag)
    listed = read_entries(dist).values()
    release = find_tagged(root, tag, (entry.version for entry in listed))
    version = release.set_version if release else project_version(root, command)
    commands = {project: command for command, (project, _) in PROJECTS.items()}
    entries = tuple(
        entry
        for entry in sorted(listed, key=lambda entry: entry.filename)
        if entry.version == version and commands.get(entry.distribution, "") == command
    )
    if not entries:
        raise UsageError(
            f"no wheel of {tag} in {dist}",
            cause=f"its {RELEASE_FILENAME} lists {fit(sorted({entry.version for entry in listed})) or 'nothing'}",
            remedy="build it first: ./noxw build_BACKEND, select or tooling, or name its folder with --dist",
        )
    check_sets(entries, f"the release {tag}")
    present = {path.name for path in dist.iterdir() if path.is_file()}
    return ReleaseSet(tag, version, release, entries, find_others(entries, present))


def find_others(entries: Collection[Entry], present: Collection[str]) -> tuple[str, ...]:
    """Return the files next to wheels that go out with them: lists of variants (PEP 825), attestations (PEP 740)."""
    names = {f"{entry.filename}{suffix}" for entry in entries for suffix in (ATTESTATION_SUFFIX, PROVENANCE_SUFFIX)}
    return tuple(sorted((names | name_lists(entries)) & set(present)))
