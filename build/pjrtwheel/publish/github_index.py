# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The static index of all published GitHub Releases, written into a folder that GitHub Pages serves.

It lists the releases that have a `release.json`. The owners of a release can exchange its files at any time, so
`release.json` and lists of variants are believed as far as `SHA256SUMS` of the same release lists them, and a wheel as
far as both agree with the digest that GitHub states of the asset. No wheel is downloaded for that: of an asset without
a digest, as older servers have them, the sha256 in `release.json` is believed if the size is right. METADATA next to a
wheel is in neither document; it is taken as GitHub serves it.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from github.GitRelease import GitRelease
from github.GitReleaseAsset import GitReleaseAsset

from pjrtwheel.attest.checksums import SUMS_FILENAME, read_sums
from pjrtwheel.dist_folder.release_file import RELEASE_FILENAME, Entry, read_entries
from pjrtwheel.errors import PublishError, UsageError, shorten
from pjrtwheel.products.index import check_place, write_pages
from pjrtwheel.products.index.projects import (
    IndexedFile,
    IndexedRelease,
    Project,
    join_url,
    list_projects,
    read_requires_python,
)
from pjrtwheel.prove.origin import find_date
from pjrtwheel.publish.destinations import Destination
from pjrtwheel.publish.github_assets import GithubAssets, digest_of
from pjrtwheel.publish.github_repository import GithubRepository, open_repository
from pjrtwheel.publish.yanked import YANKED_FILENAME, add_yanked, find_reasons, read_yanked
from pjrtwheel.wheel.names import METADATA_SUFFIX, PROVENANCE_SUFFIX, VARIANTS_SUFFIX, find_name

Assets = Mapping[str, GitReleaseAsset]
Read = Callable[[GitReleaseAsset], bytes]

_INDEX = "simple"
_REMEDY = "put back what was published, or delete that release; the index stays as it is"
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class GithubIndex:
    """The index of the releases of a repository.

    Attributes:
        repository: The repository.
        pages: Folder that Pages serves; none where others write the index.
        yanked_file: Which wheels were withdrawn.
    """

    repository: GithubRepository
    pages: Path | None
    yanked_file: Path | None

    @property
    def path(self) -> Path | None:
        """Where the index is written, if it is."""
        return self.pages / _INDEX if self.pages else None

    def check_pages(self) -> None:
        """Make sure that the index does not take the place of something else.

        Raises:
            UsageError: It would.
        """
        if self.path is None:
            return
        try:
            check_place(self.path)
        except UsageError as error:
            raise UsageError(error.what, remedy="move it away, or name another folder with --pages") from error

    def list_projects(self, own: GitRelease | None = None) -> tuple[Project, ...]:
        """Return what the index has to say: all published releases that list their wheels, and one that will be.

        Raises:
            PublishError: GitHub cannot be asked, or a release is not what its `SHA256SUMS` lists.
            WheelError: A document is damaged, or releases contradict each other.
        """
        found = {release.tag_name: release for release in self.repository.list_releases() if not release.draft}
        found |= {own.tag_name: own} if own else {}
        assets = GithubAssets(self.repository)
        listed = {tag: assets.list_all(release) for tag, release in sorted(found.items())}
        releases = [
            self._index_release(tag, files, assets.read) for tag, files in listed.items() if RELEASE_FILENAME in files
        ]
        return list_projects(releases, f"the index of {self.repository.address}")

    def write(self, projects: tuple[Project, ...]) -> None:
        """Write the pages of projects, if there is a folder for them.

        Raises:
            UsageError: The folder holds something else.
        """
        if self.path is not None:
            write_pages(projects, self.path)

    def find_reasons(self, tag: str, names: Collection[str]) -> dict[str, str]:
        """Return wheel → why it was withdrawn, for some files of a release.

        Raises:
            PinError: The file of withdrawals is malformed.
        """
        decisions = read_yanked(self.yanked_file) if self.yanked_file else ()
        return find_reasons(decisions, [name for name in names if find_name(name)], tag)

    def yank(self, names: Collection[str], reason: str) -> None:
        """Write a withdrawal down, and the index with it.

        Raises:
            UsageError: The folder of the index is not known, or holds something else.
            PublishError: GitHub cannot be asked, or a release is not what its `SHA256SUMS` lists.
        """
        if self.pages is None or self.yanked_file is None:
            raise UsageError("a release of GitHub is withdrawn in its index", remedy="give its folder with --pages")
        self.check_pages()
        add_yanked(self.yanked_file, names, reason, find_date(os.environ)[:10])
        self.write(self.list_projects())

    def _index_release(self, tag: str, assets: Assets, read: Read) -> IndexedRelease:
        """Return what the index says of a release; see `index_release` for errors."""
        address = self.repository.address
        what, url = f"{tag} at {address}", f"{address}/releases/download/{quote(tag, safe='')}"
        entries = read_listed(what, assets, read)
        return index_release(what, entries, assets, url, self.find_reasons(tag, entries), read)


def open_index(destination: Destination, settings: Mapping[str, str]) -> GithubIndex:
    """Return the index; nothing is asked yet.

    Raises:
        UsageError: That is no name of a repository.
    """
    pages = Path(settings["pages"]).absolute() if "pages" in settings else None
    default = pages / YANKED_FILENAME if pages else None
    yanked_file = Path(settings["yanked-file"]) if "yanked-file" in settings else default
    return GithubIndex(open_repository(destination, settings, os.environ), pages, yanked_file)


def read_listed(what: str, assets: Assets, read: Read) -> Mapping[str, Entry]:
    """Return the wheels that a release lists; `what` names it in messages.

    Raises:
        PublishError: It is not what its `SHA256SUMS` lists.
        WheelError: A document is damaged.
    """
    if SUMS_FILENAME not in assets:
        raise PublishError(f"{what} has no {SUMS_FILENAME}", remedy=_REMEDY)
    sums, data = read_sums(read(assets[SUMS_FILENAME])), read(assets[RELEASE_FILENAME])
    with tempfile.TemporaryDirectory(prefix="index-") as scratch:
        (Path(scratch) / RELEASE_FILENAME).write_bytes(data)
        entries = read_entries(Path(scratch))
    documents = {name: read(asset) for name, asset in assets.items() if name.endswith(VARIANTS_SUFFIX)}
    documents[RELEASE_FILENAME] = data
    described = {name: entry.sha256 for name, entry in entries.items()}
    described |= {name: hashlib.sha256(document).hexdigest() for name, document in documents.items()}
    if different := sorted(name for name, digest in described.items() if sums.get(name) != digest):
        raise PublishError(
            f"{what} is not what its {SUMS_FILENAME} lists",
            cause=f"differing: {shorten(different, _SHOWN)}",
            remedy=_REMEDY,
        )
    return entries


def index_release(
    what: str, entries: Mapping[str, Entry], assets: Assets, url: str, reasons: Mapping[str, str], read: Read
) -> IndexedRelease:
    """Return what the index says of a release.

    Args:
        what: The release, for messages.
        entries: Its wheels.
        assets: Its files by name.
        url: Address that these are downloaded from.
        reasons: Wheel → why it was withdrawn.
        read: Returns the bytes of a small asset.

    Raises:
        PublishError: A wheel is not there, or is another one.
    """
    files = [_index_wheel(what, entry, assets, url, reasons.get(name), read) for name, entry in entries.items()]
    files += [
        IndexedFile(name, hashlib.sha256(read(asset)).hexdigest(), asset.size, url=join_url(url, name))
        for name, asset in assets.items()
        if name.endswith(VARIANTS_SUFFIX)
    ]
    return IndexedRelease(tuple(entries.values()), tuple(files))


def _index_wheel(what: str, entry: Entry, assets: Assets, url: str, yanked: str | None, read: Read) -> IndexedFile:
    """Return what the index says of a wheel.

    Raises:
        PublishError: It is not there, or is another one, by its digest or, if GitHub states none, by its size.
    """
    name = entry.filename
    if cause := _find_difference(entry, assets.get(name)):
        raise PublishError(
            f"{what} has {'another' if name in assets else 'no'} {name}",
            cause=f"its {RELEASE_FILENAME} lists it with {cause}",
            remedy=_REMEDY,
        )
    found = assets.get(f"{name}{METADATA_SUFFIX}")
    metadata = read(found) if found else b""
    return IndexedFile(
        name,
        entry.sha256,
        entry.size,
        read_requires_python(metadata),
        metadata,
        join_url(url, name),
        yanked,
        provenance=f"{name}{PROVENANCE_SUFFIX}" in assets,
    )


def _find_difference(entry: Entry, asset: GitReleaseAsset | None) -> str:
    """Return what is said of a wheel and is not true of its asset; empty if there is nothing."""
    stated = digest_of(asset) if asset else ""
    if asset is None or stated:
        return f"sha256 {entry.sha256}" if stated != entry.sha256 else ""
    return f"{entry.size} bytes, GitHub has {asset.size}" if asset.size != entry.size else ""
