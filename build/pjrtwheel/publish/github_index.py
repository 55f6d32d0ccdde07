# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The static index of all published GitHub Releases, written into a folder that GitHub Pages serves.

It lists the releases that have a `release.json`; what is believed of each is in `github_indexed_release.py`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from github.GitRelease import GitRelease

from pjrtwheel.errors import UsageError
from pjrtwheel.products.index import check_place, write_pages
from pjrtwheel.products.index.projects import IndexedRelease, Project, list_projects
from pjrtwheel.publish.destinations import Destination
from pjrtwheel.publish.github_assets import GithubAssets
from pjrtwheel.publish.github_indexed_release import Assets, Read, index_release, read_listed
from pjrtwheel.publish.github_repository import GithubRepository, open_repository
from pjrtwheel.publish.yanked import add_yanked, find_reasons, read_yanked
from pjrtwheel.record.entries import RELEASE_FILENAME
from pjrtwheel.record.origin import find_date
from pjrtwheel.wheel.names import find_name

_INDEX = "simple"


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
    yanked_file: Path

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
        return find_reasons(read_yanked(self.yanked_file), [name for name in names if find_name(name)], tag)

    def yank(self, names: Collection[str], reason: str) -> None:
        """Write a withdrawal down, and the index with it if there is a folder for that.

        Raises:
            UsageError: The folder of the index holds something else.
            PublishError: GitHub cannot be asked, or a release is not what its `SHA256SUMS` lists.
        """
        self.check_pages()
        add_yanked(self.yanked_file, names, reason, find_date(os.environ)[:10])
        if self.pages:
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
    return GithubIndex(open_repository(destination, settings, os.environ), pages, Path(settings["yanked-file"]))
