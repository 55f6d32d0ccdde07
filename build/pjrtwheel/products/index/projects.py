# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What an index says about its projects, read from `dist/` and held to `release.json`."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from packaging.utils import canonicalize_name
from packaging.version import Version

from pjrtwheel.errors import WheelError
from pjrtwheel.fetch.listing import IndexFile, describe_file
from pjrtwheel.record.entries import RELEASE_FILENAME, Entry, check_sets, name_lists, read_entries, require_record
from pjrtwheel.wheel.members import open_wheel
from pjrtwheel.wheel.metadata import read_field
from pjrtwheel.wheel.names import PROVENANCE_SUFFIX, backend_member, find_plain_wheels
from pjrtwheel.wheel.unpack import read_metadata

_BUILD_AGAIN = "build the wheels again, or give another folder with --dist"
_EXTRA = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_DOCUMENT = re.compile(r"[^/]+\.dist-info/((?:licenses|sboms)/.+[^/])")


@dataclass(frozen=True, slots=True)
class WheelContents:
    """What people want to know of a wheel that `release.json` does not say.

    Attributes:
        size: Bytes of all its members.
        license: The licence as METADATA has it (PEP 639); empty where it has none.
        documents: Licence texts (PEP 639) and bills of materials (PEP 770), by their paths in its `.dist-info`.
        summary: What it is, in one line, as METADATA has it.
        extras: Names of its extras that METADATA has, without those that are no names: pages put them into commands.
    """

    size: int
    license: str
    documents: tuple[str, ...]
    summary: str = ""
    extras: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexedFile(IndexFile):
    """One file that an index of ours offers; its address may be relative to its project's page.

    Attributes:
        metadata: The wheel's METADATA, if it is at hand: it becomes a file next to the page (PEP 658).
        source: Where the file is on this disk; nothing if it is not. Without a url it is put next to the page.
        provenance: Whether its attestations lie next to it, under its name and `.provenance` (PEP 740).
        entry: What `release.json` says of it; nothing for a list of variants, and for a wheel that is not ours.
        contents: What it holds; nothing where the wheel itself is not at hand.
    """

    metadata: bytes = b""
    source: Path | None = None
    provenance: bool = False
    entry: Entry | None = None
    contents: WheelContents | None = None

    @property
    def link(self) -> str:
        """What the pages of its project link to."""
        return self.url or quote(self.filename)

    @property
    def project(self) -> str:
        """Normalized name of the project that it is of."""
        return canonicalize_name(self.filename.split("-")[0])

    @property
    def version(self) -> Version:
        """The version that it is of."""
        return Version(self.filename.split("-")[1])


@dataclass(frozen=True, slots=True)
class Project:
    """One project of an index: its normalized name, its wheels from the oldest version, and the lists of variants."""

    name: str
    files: tuple[IndexedFile, ...]

    @property
    def versions(self) -> tuple[str, ...]:
        """Its versions from the oldest."""
        return tuple(dict.fromkeys(str(file.version) for file in self.files if file.filename.endswith(".whl")))

    @property
    def is_doubled(self) -> bool:
        """Whether it has two versions of one release, of which installers take the last."""
        return len({file.version.public for file in self.files}) < len(self.versions)


def offer_file(file: IndexFile, *, metadata: bytes = b"", **more: Any) -> IndexedFile:
    """Return a file for an index of ours; what METADATA says counts, where it is at hand."""
    known = {field.name: getattr(file, field.name) for field in fields(IndexFile)}
    if metadata:
        known["requires_python"] = ",".join(read_field(metadata.decode(), "Requires-Python"))
    return IndexedFile(**known, metadata=metadata, **more)


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
    lists = [path for name in sorted(name_lists(entries)) if (path := folder / name).is_file()]
    return (*wheels, *(offer_file(describe_file(path, join_url(url, path.name)), source=path) for path in lists))


def read_wrapped(folder: Path, listed: Iterable[IndexedFile]) -> Iterator[IndexedFile]:
    """Yield the plugin wheels of a folder that `wrap` made, which `release.json` does not list.

    One of a project that it lists is of another build.

    Raises:
        WheelError: A wheel is damaged.
    """
    projects = {file.project for file in listed}
    for path, name in find_plain_wheels(folder).items():
        if name.distribution not in projects:
            with open_wheel(path) as archive:
                is_plugin = backend_member(name.distribution) in archive.namelist()
            if is_plugin:
                yield offer_file(describe_file(path, ""), metadata=read_metadata(path), source=path)


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
        if unique.setdefault(file.filename, file).sha256 != file.sha256:
            what = f"{what} has two files of the name {file.filename}"
            raise WheelError(what, remedy="leave out one of the releases")
    ordered = sorted(unique.values(), key=lambda file: (file.project, file.entry is None, file.version, file.filename))
    return tuple(Project(name, tuple(group)) for name, group in groupby(ordered, lambda file: file.project))


def find_unlisted(dist: Path, projects: Iterable[Project]) -> tuple[str, ...]:
    """Return the wheels of a folder that are not in its index, because `release.json` does not list them."""
    known = {file.filename for project in projects for file in project.files}
    return tuple(sorted({path.name for path in dist.glob("*.whl")} - known))


def _read_listed(dist: Path) -> list[Entry]:
    """Read `release.json`, all of it or none."""
    path, entries = require_record(dist), read_entries(dist)
    if not entries or not all(entry.is_as_named for entry in entries.values()):
        cause = "it lists no wheel, or one under another name than its own"
        raise WheelError(f"{path} is damaged", cause=cause, remedy=_BUILD_AGAIN)
    return list(entries.values())


def _read_wheel(folder: Path, entry: Entry, yanked: str | None, url: str) -> IndexedFile:
    """Read a wheel's metadata, after its bytes have been compared with its entry."""
    path = folder / entry.filename
    if not path.is_file():
        raise WheelError(f"{path} is not there, though {RELEASE_FILENAME} lists it", remedy=_BUILD_AGAIN)
    file = replace(describe_file(path, join_url(url, path.name)), yanked=yanked)
    if file.sha256 != entry.sha256:
        what = f"{path} has sha256 {file.sha256}, {RELEASE_FILENAME} says {entry.sha256}"
        raise WheelError(what, remedy=_BUILD_AGAIN)
    metadata = read_metadata(path)
    return offer_file(
        file,
        metadata=metadata,
        source=path,
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
        ", ".join(read_field(texts, "Summary")),
        tuple(filter(_EXTRA.fullmatch, read_field(texts, "Provides-Extra"))),
    )
