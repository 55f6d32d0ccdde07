# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What an index says about its projects, read from `dist/` and held to `release.json`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import InvalidName, canonicalize_name
from packaging.version import InvalidVersion, Version

from pjrtwheel.dist.mixed_sets import check_sets
from pjrtwheel.dist.release_file import RELEASE_FILENAME, Entry, read_entries
from pjrtwheel.errors import UsageError, WheelError
from pjrtwheel.files import hash_file
from pjrtwheel.wheel.metadata import read_field
from pjrtwheel.wheel.read.directory import open_wheel

_BUILD_AGAIN = "build the wheels again, or give another folder with --dist"


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """One file that an index offers; the METADATA of a wheel can be read without the wheel (PEP 658)."""

    name: str
    sha256: str
    size: int
    requires_python: str = ""
    metadata: bytes = b""


@dataclass(frozen=True, slots=True)
class Project:
    """One project of an index: its normalized name, versions from the oldest, its wheels and the index of variants."""

    name: str
    versions: tuple[str, ...]
    files: tuple[IndexedFile, ...]
    entries: tuple[Entry, ...]


def read_projects(dist: Path) -> tuple[Project, ...]:
    """Return the projects of a folder with `release.json`, by name.

    Raises:
        UsageError: There is no `release.json`.
        WheelError: It is damaged, or a wheel is missing, damaged or not the one that it describes; or wheels of one
            version are of different sets.
    """
    entries = _read_listed(dist)
    check_sets(entries, f"an index of {dist}")
    names = sorted({canonicalize_name(entry.distribution) for entry in entries})
    return tuple(
        _project(name, [entry for entry in entries if canonicalize_name(entry.distribution) == name], dist)
        for name in names
    )


def find_unlisted(dist: Path, projects: Iterable[Project]) -> tuple[str, ...]:
    """Return the wheels of a folder that are in no project, because `release.json` does not list them."""
    known = {file.name for project in projects for file in project.files}
    return tuple(sorted({path.name for path in dist.glob("*.whl")} - known))


def _read_listed(dist: Path) -> list[Entry]:
    """Read `release.json`, all of it or none."""
    path = dist / RELEASE_FILENAME
    if not path.is_file():
        raise UsageError(f"{path} is not there", cause="no wheels were built into this folder", remedy=_BUILD_AGAIN)
    entries = read_entries(dist)
    if not entries or not all(map(_is_plain, entries.values())):
        cause = "it lists no wheel, or one under another name than its own"
        raise WheelError(f"{path} is damaged", cause=cause, remedy=_BUILD_AGAIN)
    return list(entries.values())


def _is_plain(entry: Entry) -> bool:
    """Return whether an entry names a project, a version, and a wheel of both in its own folder, and lists its tags."""
    try:
        canonicalize_name(entry.distribution, validate=True)
        stem = _stem(entry)
    except (InvalidName, InvalidVersion):
        return False
    name = entry.filename
    return Path(name).name == name and name.startswith(f"{stem}-") and name.endswith(".whl") and bool(entry.tags)


def _project(name: str, entries: Iterable[Entry], dist: Path) -> Project:
    listed = sorted(entries, key=lambda entry: (Version(entry.version), entry.filename))
    lists = [dist / f"{stem}-variants.json" for stem in dict.fromkeys(map(_stem, listed))]  # PEP 825
    files = [_wheel(dist / entry.filename, entry) for entry in listed]
    files += [IndexedFile(path.name, hash_file(path), path.stat().st_size) for path in lists if path.is_file()]
    versions = sorted({entry.version for entry in listed}, key=Version)
    return Project(name, tuple(versions), tuple(files), tuple(listed))


def _wheel(path: Path, entry: Entry) -> IndexedFile:
    """Read a wheel's metadata, after its bytes have been compared with its entry."""
    if not path.is_file():
        raise WheelError(f"{path} is not there, though {RELEASE_FILENAME} lists it", remedy=_BUILD_AGAIN)
    if (digest := hash_file(path)) != entry.sha256:
        raise WheelError(f"{path} has sha256 {digest}, {RELEASE_FILENAME} says {entry.sha256}", remedy=_BUILD_AGAIN)
    member = f"{_stem(entry)}.dist-info/METADATA"
    try:
        with open_wheel(path) as archive:
            metadata = archive.read(member)
            requires = ",".join(read_field(metadata.decode(), "Requires-Python"))
    except KeyError as error:
        raise WheelError(f"{path} has no {member}", remedy=_BUILD_AGAIN) from error
    return IndexedFile(path.name, digest, path.stat().st_size, requires, metadata)


def _stem(entry: Entry) -> str:
    return f"{canonicalize_name(entry.distribution).replace('-', '_')}-{Version(entry.version)}"
