# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A GitHub Release as a destination, through GitHub's own program `gh`, and the static index of all releases.

A release is a draft until all is there, published as a whole, and not changed any more. What `gh release view` says of
its assets is compared with the files: since the middle of 2025 it states the sha256 of each. Of an older one, files are
downloaded to be compared.

`gh` finds its credentials itself: GH_TOKEN or GITHUB_TOKEN, or those that `gh auth login` stored.

The index lists the releases that have a `release.json`. Their owners can exchange files at any time, so documents are
believed as far as `SHA256SUMS` of the release lists them, and a wheel as far as its asset has the digest that both
state. No wheel is downloaded for that.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pjrtwheel.attest.release_folder import read_release_folder
from pjrtwheel.errors import AttestError, PublishError, UsageError, WheelError, printable
from pjrtwheel.fetch.listing import IndexFile
from pjrtwheel.products.index import check_place, write_pages
from pjrtwheel.products.index.closure import ReadClosure, read_closure
from pjrtwheel.products.index.projects import IndexedFile, Project, join_url, list_projects, offer_file
from pjrtwheel.publish.yanked import read_reasons
from pjrtwheel.record.entries import RELEASE_FILENAME, Entry, name_lists
from pjrtwheel.wheel.names import METADATA_SUFFIX, PROVENANCE_SUFFIX, find_name

_NO_RELEASE, _NO_TAG = "release not found", "HTTP 422"
_RELEASES = 1000  # that are listed at most


@dataclass(frozen=True, slots=True)
class GithubRelease:
    """One release of a repository, and the index of all of them.

    Attributes:
        repository: HOST/OWNER/NAME.
        tag: Tag of the release; empty for the index alone.
        index: Folder that the index is written into; None where others write it.
        yanked_file: Which wheels were withdrawn.
        closure: What finds the projects that those of the index need.
    """

    repository: str
    tag: str
    index: Path | None
    yanked_file: Path
    closure: ReadClosure = read_closure

    @property
    def address(self) -> str:
        """Address of the repository's page."""
        return f"https://{self.repository}"

    def list_files(self, projects: Collection[str]) -> Mapping[str, IndexFile]:  # noqa: ARG002
        """Return the release's whole assets, published or in a draft."""
        return self._list_assets(self.tag)

    def check_uploads(self, commit: str, *, credentials: bool) -> None:  # noqa: ARG002
        """Make sure that the tag is at the commit, or is not there yet, and that the index could be written.

        Raises:
            UsageError: The folder of the index holds something else.
            PublishError: The tag is at another commit, or GitHub cannot be asked.
        """
        if self.index:
            check_place(self.index)
        try:
            tagged = self._run("api", f"repos/{{owner}}/{{repo}}/commits/tags/{quote(self.tag)}", "--jq", ".sha")
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
        found = self._view(self.tag)
        if found is None:
            notes = f"Wheels of {self.tag}."
            self._run(
                "release", "create", self.tag, "--draft", "--target", commit, "--title", self.tag, "--notes", notes
            )
        elif found["isDraft"]:
            self._run("release", "edit", self.tag, "--target", commit)
        else:
            raise PublishError(
                f"{self.tag} at {self.address} is published without some of its files",
                cause="a release that was published does not change",
                remedy="publish under another version",
            )

    def upload(self, file: Path, sha256: str) -> None:  # noqa: ARG002
        """Send one file to the draft, in place of the part that an upload left which was cut off."""
        self._run("release", "upload", self.tag, file.name, "--clobber", folder=file.parent)

    def download(self, file: IndexFile, target: Path) -> None:
        """Fetch an asset back, also of a draft."""
        self._run("release", "download", self.tag, "--pattern", file.filename, "--output", str(target), "--clobber")

    def finish(self) -> None:
        """Publish the draft, then write the index; if there can be none of it and the other releases, it stays one."""
        projects = self._list_projects()
        others = self.closure(projects) if self.index else ()
        found = self._view(self.tag)
        if found and found["isDraft"]:
            self._run("release", "edit", self.tag, "--draft=false", "--target", found["targetCommitish"])
        if self.index:
            write_pages(projects, others, self.index)

    def write_index(self) -> None:
        """Write the index of all releases that are published.

        Raises:
            UsageError: There is no folder for it, or it holds something else.
        """
        if not self.index:
            raise UsageError(f"there is no folder for the index of {self.address}", remedy="name it with --pages")
        projects = self._list_projects()
        write_pages(projects, self.closure(projects), self.index)

    def _view(self, tag: str) -> dict[str, Any] | None:
        """Return the assets of a release, whether it is a draft and of which commit; None if there is none of a tag."""
        fields = "assets,isDraft,targetCommitish"
        try:
            found: dict[str, Any] = json.loads(self._run("release", "view", tag, "--json", fields))
        except PublishError as error:
            if _NO_RELEASE in error.cause:
                return None
            raise
        return found

    def _list_assets(self, tag: str) -> dict[str, IndexFile]:
        """Return the whole assets of a release by name; none where there is no release."""
        url = f"{self.address}/releases/download/{quote(tag, safe='')}"
        found = self._view(tag) or {"assets": []}
        assets = {asset["name"]: asset for asset in found["assets"] if asset["state"] == "uploaded"}
        reasons = read_reasons(self.yanked_file, filter(find_name, assets), tag)
        return {
            name: IndexFile(
                name,
                (asset.get("digest") or "").removeprefix("sha256:"),
                asset["size"],
                reasons.get(name),
                join_url(url, name),
            )
            for name, asset in assets.items()
        }

    def _list_projects(self) -> tuple[Project, ...]:
        """Return what the index has to say: all published releases that list their wheels, and this one.

        Raises:
            PublishError: GitHub cannot be asked, or a release is not what its `SHA256SUMS` lists.
            WheelError: Releases contradict each other.
        """
        listed = self._run("release", "list", "--exclude-drafts", "--limit", str(_RELEASES), "--json", "tagName")
        tags = {entry["tagName"] for entry in json.loads(listed)} | ({self.tag} - {""})
        files = (file for tag in sorted(tags) for file in self._read_release(tag))
        return list_projects(files, f"the index of {self.address}")

    def _read_release(self, tag: str) -> list[IndexedFile]:
        """Return what the index says of a release; nothing of one without wheels of ours."""
        assets = self._list_assets(tag)
        if RELEASE_FILENAME not in assets:
            return []
        derived = {name for name in assets if name.endswith(METADATA_SUFFIX)}
        documents = {name for name in assets.keys() - derived if not find_name(name)}
        with tempfile.TemporaryDirectory(prefix="index-") as scratch:
            metadata = self._fetch(tag, Path(scratch) / "metadata", derived)
            try:
                release = read_release_folder(
                    self._fetch(tag, Path(scratch) / "documents", documents), documents_only=True
                )
                _check_wheels(release.entries, assets)
            except (AttestError, UsageError, WheelError) as error:
                raise PublishError(
                    f"{tag} at {self.address} is not the release that its SHA256SUMS describes",
                    cause=error.cause or error.what,
                    remedy="put back what was published, or delete that release; the index stays as it is",
                ) from error
            files = [_index_wheel(assets, entry, metadata) for entry in release.entries]
        lists = sorted(assets.keys() & name_lists(release.entries))
        return [*files, *(offer_file(replace(assets[name], sha256=release.digests[name])) for name in lists)]

    def _fetch(self, tag: str, folder: Path, names: Iterable[str]) -> Path:
        """Download some assets into a new folder."""
        folder.mkdir()
        if patterns := [word for name in sorted(names) for word in ("--pattern", name)]:
            self._run("release", "download", tag, "--dir", str(folder), *patterns)
        return folder

    def _run(self, *arguments: str, folder: Path | None = None) -> str:
        """Run `gh` in a folder, and return what it prints.

        Raises:
            PublishError: It is not there, or failed.
        """
        what = f"gh {' '.join(arguments[:2])} failed for {self.address}"
        command = ["gh", *arguments, *(() if arguments[0] == "api" else ("--repo", self.repository))]
        environ = {**os.environ, "GH_HOST": self.repository.partition("/")[0], "GH_REPO": self.repository}
        try:
            done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
        except FileNotFoundError as error:
            remedy = "install it: https://cli.github.com"
            raise PublishError(what, cause="there is no program gh on the PATH", remedy=remedy) from error
        if done.returncode:
            raise PublishError(what, cause=printable(done.stderr), remedy="check GH_TOKEN, and what gh said")
        return done.stdout


def _check_wheels(entries: Iterable[Entry], assets: Mapping[str, IndexFile]) -> None:
    """Raise a `WheelError` unless all wheels are there as listed; an asset may be from before GitHub stated digests."""
    for entry in entries:
        found = assets.get(entry.filename)
        if found is None or found.size != entry.size or found.sha256 not in {"", entry.sha256}:
            raise WheelError(f"it has {'another' if found else 'no'} {entry.filename}")


def _index_wheel(assets: Mapping[str, IndexFile], entry: Entry, metadata: Path) -> IndexedFile:
    name = entry.filename
    path = metadata / f"{name}{METADATA_SUFFIX}"
    data = path.read_bytes() if path.is_file() else b""
    has_provenance = f"{name}{PROVENANCE_SUFFIX}" in assets
    return offer_file(assets[name], metadata=data, provenance=has_provenance, entry=entry)


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
    return GithubRelease(name, tag, index, yanked_file)
