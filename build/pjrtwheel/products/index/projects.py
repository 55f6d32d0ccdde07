# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What an index says about its projects, read from `dist/` and held to `release.json`."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
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
_DOCUMENT = re.compile(r"[^/]+\.dist-info/((?:licenses|sboms)/.+[^/])")


@dataclass(frozen=True, slots=True)
class WheelContents:
    """What people want to know of a wheel that `release.json` does not say.

    Attributes:
        size: Bytes of all its members.
        license: The licence as METADATA has it (PEP 639); empty where it has none.
        documents: Licence texts (PEP 639) and bills of materials (PEP 770), by their paths in its `.dist-info`.
    """

    size: int
    license: str
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """One file that an index offers.

    Attributes:
        name: File name.
        sha256: Hexadecimal digest.
        size: Length in bytes.
        requires_python: The wheel's Requires-Python.
        metadata: The wheel's METADATA, if installers find it at the wheel's address and `.metadata` (PEP 658).
        metadata_sha256: Digest of that, where it lies with the wheel on another index.
        url: Address of the file, which may be relative to its project's page; empty if it lies next to that.
        source: Where the file is on this disk; nothing if it is not. Without a url it is put next to the page.
        yanked: Why it was withdrawn (PEP 592); nothing if it was not.
        provenance: Whether its attestations lie next to it, under its name and `.provenance` (PEP 740).
        entry: What `release.json` says of it; nothing for a list of variants, and for a wheel that is not ours.
        contents: What it holds; nothing where the wheel itself is not at hand.
    """

    name: str
    sha256: str
    size: int
    requires_python: str = ""
    metadata: bytes = b""
    metadata_sha256: str = ""
    url: str = ""
    source: Path | None = None
    yanked: str | None = None
    provenance: bool = False
    entry: Entry | None = None
    contents: WheelContents | None = None

    @property
    def link(self) -> str:
        """What the pages of its project link to."""
        return self.url or quote(self.name)

    @property
    def project(self) -> str:
        """Normalized name of the project that it is of."""
        return canonicalize_name(self.name.split("-")[0])

    @property
    def version(self) -> Version:
        """The version that it is of."""
        return Version(self.name.split("-")[1])


@dataclass(frozen=True, slots=True)
class Project:
    """One project of an index: its normalized name, its wheels from the oldest version, and the lists of variants."""

    name: str
    files: tuple[IndexedFile, ...]

    @property
    def versions(self) -> tuple[str, ...]:
        """Its versions from the oldest."""
        return tuple(dict.fromkeys(str(file.version) for file in self.files if file.name.endswith(".whl")))


def read_release(folder: Path, yanked: Mapping[str, str] | None = None, *, url: str = "") -> tuple[IndexedFile, ...]:
    """Return what a folder of wheels with `release.json` offers.

    Args:
        folder: The folder.
        yanked: The reason for each wheel that was withdrawn, by file name.
        url: Address of the folder that installers find the files in, which may be relative to the page of a project;
            empty if the files are put next to the pages.

    Raises:
        UsageError: There is no `release.json`.
        WheelError: It is damaged, or a wheel is missing, damaged or not the one that it describes.
    """
    reasons, entries = yanked or {}, _read_listed(folder)
    wheels = [_read_wheel(folder, entry, reasons.get(entry.filename), url) for entry in entries]
    lists = [path for name in name_lists(entries) if (path := folder / name).is_file()]
    return (
        *wheels,
        *(
            IndexedFile(path.name, hash_file(path), path.stat().st_size, url=join_url(url, path.name), source=path)
            for path in lists
        ),
    )


def name_lists(entries: Iterable[Entry]) -> list[str]:
    """Return the names that the lists of the variants of wheels have (PEP 825), whether there are any or not."""
    return list(dict.fromkeys(f"{_stem(entry)}{VARIANTS_SUFFIX}" for entry in entries))


def join_url(folder: str, name: str) -> str:
    """Return the address of a file in a folder; empty for files that have none.

    >>> join_url("https://example.org/v1%2B2", "a-1+2.whl"), join_url("", "a-1+2.whl")
    ('https://example.org/v1%2B2/a-1%2B2.whl', '')
    """
    return f"{folder.rstrip('/')}/{quote(name)}" if folder else ""


def list_projects(files: Iterable[IndexedFile], what: str) -> tuple[Project, ...]:
    """Return the projects of the files of all releases, by name; `what` names the index in messages.

    Raises:
        WheelError: Wheels of one version are of different sets, or two files have one name.
    """
    listed = list(files)
    check_sets([file.entry for file in listed if file.entry], what)
    unique: dict[str, IndexedFile] = {}
    for file in listed:
        if unique.setdefault(file.name, file).sha256 != file.sha256:
            raise WheelError(f"{what} has two files of the name {file.name}", remedy="leave out one of the releases")
    ordered = sorted(unique.values(), key=lambda file: (file.project, file.entry is None, file.version, file.name))
    return tuple(Project(name, tuple(group)) for name, group in groupby(ordered, lambda file: file.project))


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


def _read_wheel(folder: Path, entry: Entry, yanked: str | None, url: str) -> IndexedFile:
    """Read a wheel's metadata, after its bytes have been compared with its entry."""
    path = folder / entry.filename
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
        metadata,
        url=join_url(url, path.name),
        source=path,
        yanked=yanked,
        provenance=path.with_name(f"{path.name}{PROVENANCE_SUFFIX}").is_file(),
        entry=entry,
        contents=_read_contents(path, metadata),
    )


def _read_contents(wheel: Path, metadata: bytes) -> WheelContents:
    """Look into a wheel; raise a `WheelError` if it is damaged or hostile."""
    with open_wheel(wheel) as archive:
        members = archive.infolist()
    found = (_DOCUMENT.fullmatch(info.filename) for info in members)
    texts = metadata.decode()
    return WheelContents(
        sum(info.file_size for info in members),
        ", ".join(read_field(texts, "License-Expression") or read_field(texts, "License")),
        tuple(sorted(match[1] for match in found if match)),
    )


def read_requires_python(metadata: bytes) -> str:
    """Return the Requires-Python of a METADATA."""
    return ",".join(read_field(metadata.decode(), "Requires-Python"))


def _stem(entry: Entry) -> str:
    return f"{canonicalize_name(entry.distribution).replace('-', '_')}-{Version(entry.version)}"
