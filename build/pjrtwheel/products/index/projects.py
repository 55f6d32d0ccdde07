# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What an index says about its projects, read from `dist/` and held to `release.json`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from packaging.utils import InvalidName, canonicalize_name
from packaging.version import InvalidVersion, Version

from pjrtwheel.errors import WheelError
from pjrtwheel.files import hash_file
from pjrtwheel.record.entries import RELEASE_FILENAME, Entry, check_sets, read_entries, require_record
from pjrtwheel.wheel.members import open_wheel
from pjrtwheel.wheel.metadata import read_field
from pjrtwheel.wheel.names import PROVENANCE_SUFFIX, VARIANTS_SUFFIX
from pjrtwheel.wheel.unpack import read_metadata

_BUILD_AGAIN = "build the wheels again, or give another folder with --dist"
_DOCUMENT = re.compile(r"[^/]+\.dist-info/(licenses|sboms)/(.+)")


@dataclass(frozen=True, slots=True)
class WheelSummary:
    """What people want to know of a wheel that `release.json` does not say.

    Attributes:
        installed_size: Bytes of all its members.
        license: The licence as METADATA has it (PEP 639); empty where it has none.
        license_files: Licence texts in the wheel.
        sboms: Bills of materials in the wheel (PEP 770).
    """

    installed_size: int
    license: str = ""
    license_files: tuple[str, ...] = ()
    sboms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """One file that an index offers.

    Attributes:
        name: File name.
        sha256: Hexadecimal digest.
        size: Length in bytes.
        requires_python: The wheel's Requires-Python.
        metadata: The wheel's METADATA, if installers find it at the wheel's address and `.metadata` (PEP 658).
        url: Address of the file, which may be relative to its project's page; empty if it lies next to that.
        yanked: Why it was withdrawn (PEP 592); nothing if it was not.
        provenance: Whether its attestations lie next to it, under its name and `.provenance` (PEP 740).
        summary: What it holds; nothing where the wheel itself is not at hand.
    """

    name: str
    sha256: str
    size: int
    requires_python: str = ""
    metadata: bytes = b""
    url: str = ""
    yanked: str | None = None
    provenance: bool = False
    summary: WheelSummary | None = None

    @property
    def link(self) -> str:
        """What the pages of its project link to."""
        return self.url or quote(self.name)

    @property
    def is_absolute(self) -> bool:
        """Whether the link is the same on every page."""
        return "://" in self.url


@dataclass(frozen=True, slots=True)
class WheelFolder:
    """A folder of wheels with `release.json`, and where installers find these.

    Attributes:
        folder: The folder.
        url: Address of the folder that the files are in, which may be relative to the page of a project; empty if they
            are put next to the pages.
        metadata: Whether the METADATA of each wheel is there as well, under the wheel's name and `.metadata`.
    """

    folder: Path
    url: str = ""
    metadata: bool = True


@dataclass(frozen=True, slots=True)
class IndexedRelease:
    """What an index offers of one release: its wheels, and the lists of their variants."""

    entries: tuple[Entry, ...]
    files: tuple[IndexedFile, ...]


@dataclass(frozen=True, slots=True)
class Project:
    """One project of an index: its normalized name, versions from the oldest, its wheels and the index of variants."""

    name: str
    versions: tuple[str, ...]
    files: tuple[IndexedFile, ...]
    entries: tuple[Entry, ...]


def read_release(source: WheelFolder, yanked: Mapping[str, str] | None = None) -> IndexedRelease:
    """Return what a folder offers; `yanked` has the reason for each wheel that was withdrawn, by file name.

    Raises:
        UsageError: There is no `release.json`.
        WheelError: It is damaged, or a wheel is missing, damaged or not the one that it describes.
    """
    reasons = yanked or {}
    entries = _read_listed(source.folder)
    files = [_wheel(source, entry, reasons.get(entry.filename)) for entry in entries]
    lists = [source.folder / f"{stem}{VARIANTS_SUFFIX}" for stem in dict.fromkeys(map(_stem, entries))]  # PEP 825
    files += [
        IndexedFile(path.name, hash_file(path), path.stat().st_size, url=join_url(source.url, path.name))
        for path in lists
        if path.is_file()
    ]
    return IndexedRelease(tuple(entries), tuple(files))


def join_url(folder: str, name: str) -> str:
    """Return the address of a file in a folder; empty for files that have none.

    >>> join_url("https://example.org/v1%2B2", "a-1+2.whl"), join_url("", "a-1+2.whl")
    ('https://example.org/v1%2B2/a-1%2B2.whl', '')
    """
    return f"{folder.rstrip('/')}/{quote(name)}" if folder else ""


def list_projects(releases: Iterable[IndexedRelease], what: str) -> tuple[Project, ...]:
    """Return the projects of several releases, by name; `what` names the index in messages.

    Raises:
        WheelError: Wheels of one version are of different sets, or two files have one name.
    """
    listed = list(releases)
    entries = [entry for release in listed for entry in release.entries]
    check_sets(entries, what)
    files: dict[str, IndexedFile] = {}
    for file in (file for release in listed for file in release.files):
        if files.setdefault(file.name, file).sha256 != file.sha256:
            raise WheelError(f"{what} has two files of the name {file.name}", remedy="leave out one of the releases")
    unique = {entry.filename: entry for entry in reversed(entries)}
    names = sorted({canonicalize_name(entry.distribution) for entry in entries})
    return tuple(
        _project(name, [entry for entry in unique.values() if canonicalize_name(entry.distribution) == name], files)
        for name in names
    )


def find_unlisted(dist: Path, projects: Iterable[Project]) -> tuple[str, ...]:
    """Return the wheels of a folder that are in no project, because `release.json` does not list them."""
    known = {file.name for project in projects for file in project.files}
    return tuple(sorted({path.name for path in dist.glob("*.whl")} - known))


def _read_listed(dist: Path) -> list[Entry]:
    """Read `release.json`, all of it or none."""
    path, entries = require_record(dist), read_entries(dist)
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


def _project(name: str, entries: Iterable[Entry], files: Mapping[str, IndexedFile]) -> Project:
    listed = sorted(entries, key=lambda entry: (Version(entry.version), entry.filename))
    lists = [f"{stem}{VARIANTS_SUFFIX}" for stem in dict.fromkeys(map(_stem, listed))]  # PEP 825
    named = [*(entry.filename for entry in listed), *lists]
    versions = sorted({entry.version for entry in listed}, key=Version)
    return Project(name, tuple(versions), tuple(files[file] for file in named if file in files), tuple(listed))


def _wheel(source: WheelFolder, entry: Entry, yanked: str | None) -> IndexedFile:
    """Read a wheel's metadata, after its bytes have been compared with its entry."""
    path = source.folder / entry.filename
    if not path.is_file():
        raise WheelError(f"{path} is not there, though {RELEASE_FILENAME} lists it", remedy=_BUILD_AGAIN)
    if (digest := hash_file(path)) != entry.sha256:
        raise WheelError(f"{path} has sha256 {digest}, {RELEASE_FILENAME} says {entry.sha256}", remedy=_BUILD_AGAIN)
    metadata = read_metadata(path)
    return IndexedFile(
        path.name,
        digest,
        path.stat().st_size,
        read_requires_python(metadata),
        metadata if source.metadata else b"",
        join_url(source.url, path.name),
        yanked,
        provenance=path.with_name(f"{path.name}{PROVENANCE_SUFFIX}").is_file(),
        summary=_summarize(path, metadata),
    )


def _summarize(wheel: Path, metadata: bytes) -> WheelSummary:
    """Look into a wheel; raise a `WheelError` if it is damaged or hostile."""
    with open_wheel(wheel) as archive:
        members = [info for info in archive.infolist() if not info.is_dir()]
    found = [match for info in members if (match := _DOCUMENT.fullmatch(info.filename))]
    texts = metadata.decode()
    return WheelSummary(
        sum(info.file_size for info in members),
        ", ".join(read_field(texts, "License-Expression") or read_field(texts, "License")),
        tuple(sorted(match[2] for match in found if match[1] == "licenses")),
        tuple(sorted(match[2] for match in found if match[1] == "sboms")),
    )


def read_requires_python(metadata: bytes) -> str:
    """Return the Requires-Python of a METADATA."""
    return ",".join(read_field(metadata.decode(), "Requires-Python"))


def project_of(filename: str) -> str:
    """Return the normalized name of the project that a wheel, or a list of variants, is of."""
    return canonicalize_name(filename.split("-", maxsplit=1)[0])


def _stem(entry: Entry) -> str:
    return f"{canonicalize_name(entry.distribution).replace('-', '_')}-{Version(entry.version)}"
