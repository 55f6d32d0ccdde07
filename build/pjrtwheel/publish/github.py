# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A GitHub Release as a destination: a draft until all is there, published as a whole, and not changed any more.

What `gh release view` says of the assets is compared with the release: since the middle of 2025 it states the sha256 of
each. With an older one, files are downloaded to be compared.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from pjrtwheel.errors import PublishError, UsageError
from pjrtwheel.products.index import check_place, write_pages
from pjrtwheel.publish.destinations import PublishedFile
from pjrtwheel.publish.github_index import GithubRepository
from pjrtwheel.publish.yanked import add_yanked, find_reasons, read_yanked
from pjrtwheel.record.origin import find_date
from pjrtwheel.wheel.names import find_name

_NO_TAG = "HTTP 422"


@dataclass(frozen=True, slots=True)
class GithubRelease:
    """One release of a repository.

    Attributes:
        repository: The repository.
        tag: Tag of the release; empty for the index of all releases alone.
        index: Folder that the index is written into; None where others write it.
        yanked_file: Which wheels were withdrawn.
    """

    repository: GithubRepository
    tag: str
    index: Path | None
    yanked_file: Path

    @property
    def address(self) -> str:
        """The repository's address."""
        return self.repository.address

    def list_files(self, projects: Collection[str]) -> Mapping[str, PublishedFile]:  # noqa: ARG002
        """Return the release's whole assets, published or in a draft."""
        assets = self.repository.list_assets(self.tag)
        reasons = find_reasons(read_yanked(self.yanked_file), filter(find_name, assets), self.tag)
        return {
            name: PublishedFile(name, asset.sha256, asset.size, asset.url, reasons.get(name))
            for name, asset in assets.items()
        }

    def check_uploads(self, commit: str, *, credentials: bool) -> None:  # noqa: ARG002
        """Make sure that the tag is at the commit, or is not there yet, and that the index could be written.

        Raises:
            UsageError: The folder of the index holds something else.
            PublishError: The tag is at another commit, or GitHub cannot be asked.
        """
        if self.index:
            check_place(self.index)
        try:
            tagged = self.repository.run(
                "api", f"repos/{{owner}}/{{repo}}/commits/tags/{quote(self.tag)}", "--jq", ".sha"
            )
        except PublishError as error:
            if _NO_TAG in error.cause:
                return
            raise
        if tagged.strip() != commit:
            raise PublishError(
                f"{self.address} has the tag {self.tag} at {tagged[:12]}",
                cause=f"the wheels were built from {commit[:12]}",
                remedy="build the wheels at the commit of the tag, or set the tag on theirs",
            )

    def begin(self, commit: str) -> None:
        """Make the draft, unless it is there; the tag will be made at the commit if there is none.

        Raises:
            PublishError: The release is published without some of its files, or GitHub refused.
        """
        found = self.repository.view(self.tag)
        if found is None:
            notes = f"Wheels of {self.tag}."
            self._run("create", "--draft", "--target", commit, "--title", self.tag, "--notes", notes)
        elif found["isDraft"]:
            self._run("edit", "--target", commit)
        else:
            raise PublishError(
                f"{self.tag} at {self.address} is published without some of its files",
                cause="a release that was published does not change",
                remedy="publish under another version",
            )

    def upload(self, file: Path, sha256: str) -> None:  # noqa: ARG002
        """Send one file to the draft, in place of the part that an upload left which was cut off."""
        self._run("upload", file.name, "--clobber", folder=file.parent)

    def download(self, file: PublishedFile, target: Path) -> None:
        """Fetch an asset back, also of a draft."""
        self._run("download", "--pattern", file.name, "--output", str(target), "--clobber")

    def finish(self) -> None:
        """Publish the draft, then write the index; if there can be none of it and the other releases, it stays one."""
        projects = self.repository.list_projects(read_yanked(self.yanked_file), self.tag)
        found = self.repository.view(self.tag)
        if found and found["isDraft"]:
            self._run("edit", "--draft=false", "--target", found["targetCommitish"])
        if self.index:
            write_pages(projects, self.index)

    def yank(self, names: Collection[str], reason: str) -> str:
        """Write the withdrawal down, and the index with it if there is a folder for that."""
        if self.index:
            check_place(self.index)
        add_yanked(self.yanked_file, names, reason, find_date(os.environ)[:10])
        self.write_index()
        return f"it is in {self.yanked_file}: commit that to main, and pages.yml deploys the index with it"

    def write_index(self) -> None:
        """Write the index of all releases that are published, if there is a folder for it."""
        if self.index:
            write_pages(self.repository.list_projects(read_yanked(self.yanked_file)), self.index)

    def _run(self, action: str, *arguments: str, folder: Path | None = None) -> None:
        self.repository.run("release", action, self.tag, *arguments, folder=folder)


def open_github(settings: Mapping[str, str], tag: str, yanked_file: Path) -> GithubRelease:
    """Return the place; nothing is asked yet.

    Raises:
        UsageError: That is no name of a repository.
    """
    name = settings["github-repository"]
    if name.count("/") not in {1, 2}:
        raise UsageError(f"the repository of a GitHub Release is {name!r}", remedy="expected OWNER/NAME")
    if name.count("/") == 1:
        name = f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com').partition('://')[2]}/{name}"
    index = Path(settings["pages"]).absolute() / "simple" if "pages" in settings else None
    return GithubRelease(GithubRepository(name), tag, index, yanked_file)
