# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A GitHub Release, and a static index whose links point at its assets.

Until the end the release is a draft, which nobody but its owners sees; then it is published as a whole, and is not
changed any more. METADATA of each wheel is an asset next to it, because installers look for it there (PEP 658). The
index is written into a folder that GitHub Pages serves; it lists all published releases that have a `release.json`.

Address and token are in the variables that GitHub sets for its own jobs: `GITHUB_REPOSITORY`, `GITHUB_SHA`,
`GITHUB_API_URL`, `GITHUB_SERVER_URL`, `GITHUB_TOKEN` or `GH_TOKEN`.

All this was written from GitHub's documentation and run against a stand-in (tests/support/github_stand_in.py), not
against GitHub itself.
"""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

import requests
from github import Auth, Github, GithubException
from github.GitRelease import GitRelease
from github.GitReleaseAsset import GitReleaseAsset
from github.Repository import Repository

from pjrtwheel.dist_folder.release_file import RELEASE_FILENAME
from pjrtwheel.errors import PublishError, UsageError, WheelError
from pjrtwheel.files import hash_file
from pjrtwheel.products.index import check_place, write_pages
from pjrtwheel.products.index.projects import IndexedRelease, Project, list_projects
from pjrtwheel.prove.origin import find_date
from pjrtwheel.publish.answers import RETRY_WAITS_S, Advice, PassingError, explained, printable, save_answer
from pjrtwheel.publish.destinations import Destination
from pjrtwheel.publish.github_index import Assets, digest_of, index_release, read_listed
from pjrtwheel.publish.place import Place, PlaceKind, PublishedFile, Setting
from pjrtwheel.publish.yanked import YANKED_FILENAME, add_yanked, find_reasons, read_yanked
from pjrtwheel.wheel.names import METADATA_SUFFIX, find_name
from pjrtwheel.wheel.read.metadata import read_metadata

INDEX = "simple"
_SILENCE_S = 120
_WHOLE = "uploaded"  # state of an asset; one of a cut upload is a `starter`

_ADVICE = Advice("check the token in GITHUB_TOKEN")

# Status → what it means, and what to do.
_MEANINGS = {
    401: ("the token is not valid", "give a valid one in GITHUB_TOKEN"),
    403: ("the token may not do that, or asked too often", "give it the permission contents: write, or wait"),
    404: ("there is no such repository, or the token may not see it", "check its name and the token"),
    422: ("GitHub does not accept it", "look at the release's page; delete a draft that is not this release"),
}


@dataclass(slots=True)
class GithubRelease:
    """One release of a repository.

    Attributes:
        repository: The repository, of which nothing was asked yet.
        name: Its name with its owner.
        tag: Tag of the release.
        commit: What the tag is made at if it is not there.
        server: Address of GitHub's pages.
        pages: Folder that Pages serves; none to write no index.
        yanked_file: Which wheels were withdrawn.
        token: Who asks.
        wait: Called with seconds to wait.
    """

    repository: Repository = field(repr=False)
    name: str
    tag: str
    commit: str
    server: str
    pages: Path | None
    yanked_file: Path | None
    token: str = field(default="", repr=False)
    wait: Callable[[float], None] = time.sleep
    _found: GitRelease | None = field(default=None, repr=False)

    @property
    def address(self) -> str:
        """The repository's address."""
        return f"{self.server}/{self.name}"

    def list_files(self, projects: Collection[str]) -> Mapping[str, PublishedFile]:  # noqa: ARG002
        """Return the release's whole assets, published or in a draft, without METADATA next to its wheel.

        Raises:
            PublishError: GitHub cannot be asked, or has several releases of the tag.
        """
        release = self._find_release()
        if release is None:
            return {}
        assets = self._list_assets(release)
        derived = {f"{name}{METADATA_SUFFIX}" for name in assets}
        shown = [asset for name, asset in assets.items() if asset.state == _WHOLE and name not in derived]
        reasons = self._reasons(self.tag, [asset.name for asset in shown])
        return {
            asset.name: PublishedFile(asset.name, digest_of(asset), asset.size, asset.url, reasons.get(asset.name))
            for asset in shown
        }

    def check_uploads(self, *, credentials: bool) -> None:
        """Make sure that a draft could be made, and an index be written.

        Raises:
            UsageError: The commit is not known, or the folder of the index holds something else.
            PublishError: There is no token.
        """
        if self._find_release() is None:
            self._require_commit()
        if self.pages:
            _check_pages(self.pages)
        if credentials and not self.token:
            raise PublishError(f"there is no token for {self.address}", remedy="give one in GITHUB_TOKEN")

    def upload(self, file: Path, sha256: str) -> None:
        """Send one file to the draft, which is made first; METADATA of a wheel goes before it.

        Raises:
            PublishError: GitHub refused it, states another digest, has other bytes of that name, or the release is
                published without it.
        """
        if file.name.endswith(".whl"):
            metadata = read_metadata(file)
            name = f"{file.name}{METADATA_SUFFIX}"
            self._send(name, hashlib.sha256(metadata).hexdigest(), len(metadata), lambda: io.BytesIO(metadata))
        self._send(file.name, sha256, file.stat().st_size, lambda: file.open("rb"))

    def download(self, file: PublishedFile, target: Path) -> None:
        """Fetch an asset back, also of a draft; a wheel together with the METADATA that installers read in its place.

        Raises:
            PublishError: GitHub does not give it, or has other METADATA next to it than the wheel's own.
        """
        self._fetch(file, target)
        if not file.name.endswith(".whl"):
            return
        release, expected = self._find_release(), b""
        with (
            tempfile.TemporaryDirectory(prefix="wheel-") as scratch,
            suppress(WheelError),
        ):  # its hash the caller checks
            named = Path(scratch) / file.name
            named.symlink_to(target.absolute())
            expected = read_metadata(named)
        neighbour = self._list_assets(release).get(f"{file.name}{METADATA_SUFFIX}") if release and expected else None
        if neighbour is not None and self._read(neighbour) != expected:
            raise PublishError(
                f"{self.address} has another {neighbour.name}",
                cause="it is not METADATA of the wheel: somebody replaced it",
                remedy="delete that asset, then publish again",
            )

    def _fetch(self, file: PublishedFile, target: Path) -> None:
        what = f"cannot download {file.name} from {self.address}"
        headers = {"Accept": "application/octet-stream"}
        headers |= {"Authorization": f"Bearer {self.token}"} if self.token else {}
        with (
            explained(what, _ADVICE, target),
            requests.get(file.url, headers=headers, stream=True, timeout=_SILENCE_S) as answer,  # leads elsewhere
        ):
            save_answer(what, answer, target, file.size, _ADVICE)

    def finish(self) -> None:
        """Publish the draft, then write the index.

        Raises:
            PublishError: A wheel lacks its METADATA, or GitHub refused.
        """
        release = self._find_release()
        if release is None:
            raise PublishError(f"nothing of {self.tag} was sent to {self.address}")
        assets = self._list_assets(release)
        lacking = [name for name in assets if name.endswith(".whl") and f"{name}{METADATA_SUFFIX}" not in assets]
        if lacking:
            raise PublishError(f"{self.address} has no METADATA of {lacking[0]}", remedy="publish again")
        if parts := [name for name, asset in assets.items() if asset.state != _WHOLE]:
            raise PublishError(f"{self.address} has only a part of {parts[0]}", remedy="delete it from the draft")
        projects = self._list_projects(release)  # also where others write the pages: if it fails, all stays a draft
        if release.draft:
            with _asked(f"{self.address} did not publish {self.tag}"):
                self._found = release.update_release(
                    self.tag, release.body or "", draft=False, target_commitish=self.commit
                )
        if self.pages:
            write_pages(projects, self.pages / INDEX)

    def yank(self, names: Collection[str], reason: str) -> None:
        """Write the withdrawal down, and the index with it.

        Raises:
            UsageError: The folder of the index is not known, or holds something else.
        """
        if self.pages is None or self.yanked_file is None:
            raise UsageError("a release of GitHub is withdrawn in its index", remedy="give its folder with --pages")
        _check_pages(self.pages)
        add_yanked(self.yanked_file, names, reason, find_date(os.environ)[:10])
        self.write_index(self.pages)

    def write_index(self, pages: Path) -> None:
        """Write the index of all published releases that say what their wheels are into a folder's `simple`.

        Raises:
            PublishError: GitHub cannot be asked, or a release is not what its `SHA256SUMS` lists.
        """
        write_pages(self._list_projects(), pages / INDEX)

    def _find_release(self) -> GitRelease | None:
        """Return the release of the tag, which may be a draft: these are found by listing alone."""
        if self._found is None:
            with _asked(f"cannot list the releases of {self.address}"):
                found = [release for release in self.repository.get_releases() if release.tag_name == self.tag]
            if len(found) > 1:
                raise PublishError(
                    f"{self.address} has {len(found)} releases of {self.tag}", remedy="delete the drafts among them"
                )
            self._found = found[0] if found else None
        return self._found

    def _make_release(self) -> GitRelease:
        """Return the release; a draft is made if there is none."""
        release = self._find_release()
        if release is None:
            self._require_commit()
            with _asked(f"{self.address} did not make a draft of {self.tag}"):
                release = self.repository.create_git_release(
                    self.tag, self.tag, f"Wheels of {self.tag}.", draft=True, target_commitish=self.commit
                )
            self._found = release
        return release

    def _require_commit(self) -> None:
        if not self.commit:
            raise UsageError(f"the commit of {self.tag} is not known", remedy="give it with --commit, or in GITHUB_SHA")

    def _list_assets(self, release: GitRelease) -> dict[str, GitReleaseAsset]:
        with _asked(f"cannot list the files of {release.tag_name} at {self.address}"):
            return {asset.name: asset for asset in release.get_assets()}

    def _send(self, name: str, sha256: str, size: int, content: Callable[[], BinaryIO]) -> None:
        """Send an asset unless it is there, and again if the server or the network failed."""
        for seconds in (*RETRY_WAITS_S, None):
            release = self._make_release()
            present = self._list_assets(release).get(name)
            if present is not None and present.state == _WHOLE and self._hash_of(present) == sha256:
                return
            self._make_room(release, name, present)
            try:
                with _asked(f"{self.address} did not take {name}"), content() as stream:
                    asset = release.upload_asset_from_memory(stream, size, name, "application/octet-stream")
            except PassingError:
                if seconds is None:
                    with suppress(PublishError):  # nothing half-uploaded stays, if GitHub can be asked at all
                        self._make_room(release, name, self._list_assets(release).get(name))
                    raise
                self.wait(seconds)
            else:
                self._check_sent(asset, name, sha256)
                return

    def _make_room(self, release: GitRelease, name: str, present: GitReleaseAsset | None) -> None:
        """Remove what a cut upload left under a name; anything else there, or a published release, is an error."""
        if present is None and release.draft:
            return
        if present is None or not release.draft or present.state == _WHOLE:
            raise PublishError(
                f"{self.tag} at {self.address} has {'no' if present is None else 'another'} {name}",
                cause="it is published, and does not change" if not release.draft else "the draft is of other files",
                remedy="publish under another version" if not release.draft else "delete the draft, then publish again",
            )
        with _asked(f"cannot remove what is left of {name}"):
            present.delete_asset()

    def _check_sent(self, asset: GitReleaseAsset, name: str, sha256: str) -> None:
        """Remove an asset again that GitHub renamed, or did not get whole."""
        said = digest_of(asset)
        if asset.name == name and asset.state == _WHOLE and said in {"", sha256}:
            return
        with _asked(f"cannot remove {asset.name} from the draft of {self.tag}"):
            asset.delete_asset()
        raise PublishError(
            f"{self.address} has {name} otherwise than it was sent; it was removed from the draft",
            cause=f"as {asset.name}, {asset.state}, sha256 {said}, expected {sha256}",
            remedy="publish again",
        )

    def _list_projects(self, own: GitRelease | None = None) -> tuple[Project, ...]:
        """Return what the index has to say: all published releases that list their wheels, and this one."""
        with _asked(f"cannot list the releases of {self.address}"):
            found = {made.tag_name: made for made in self.repository.get_releases() if not made.draft}
        found |= {own.tag_name: own} if own else {}
        assets = {tag: self._list_assets(release) for tag, release in sorted(found.items())}
        releases = [self._index_release(tag, listed) for tag, listed in assets.items() if RELEASE_FILENAME in listed]
        return list_projects(releases, f"the index of {self.address}")

    def _index_release(self, tag: str, assets: Assets) -> IndexedRelease:
        what, url = f"{tag} at {self.address}", f"{self.address}/releases/download/{quote(tag, safe='')}"
        entries = read_listed(what, assets, self._read)
        return index_release(what, entries, assets, url, self._reasons(tag, entries), self._read)

    def _hash_of(self, asset: GitReleaseAsset) -> str:
        """Return the sha256 of an asset, after downloading it if GitHub states none."""
        if stated := digest_of(asset):
            return stated
        with tempfile.TemporaryDirectory(prefix="asset-") as scratch:
            target = Path(scratch) / "asset"
            self._fetch(PublishedFile(asset.name, "", asset.size, asset.url), target)
            return hash_file(target)

    def _read(self, asset: GitReleaseAsset) -> bytes:
        """Return the bytes of a small asset, which must have its digest."""
        with tempfile.TemporaryDirectory(prefix="asset-") as scratch:
            target = Path(scratch) / "asset"
            self._fetch(PublishedFile(asset.name, digest_of(asset), asset.size, asset.url), target)
            data = target.read_bytes()
        if digest_of(asset) not in {"", hashlib.sha256(data).hexdigest()}:
            raise PublishError(f"{self.address} serves other bytes as {asset.name} than it says", remedy="try again")
        return data

    def _reasons(self, tag: str, names: Collection[str]) -> dict[str, str]:
        decisions = read_yanked(self.yanked_file) if self.yanked_file else ()
        return find_reasons(decisions, [name for name in names if find_name(name)], tag)


def _check_pages(pages: Path) -> None:
    """Raise a `UsageError` if the index would take the place of something else."""
    try:
        check_place(pages / INDEX)
    except UsageError as error:
        raise UsageError(error.what, remedy="move it away, or name another folder with --pages") from error


@contextmanager
def _asked(what: str) -> Iterator[None]:
    """Turn what the API answers, and errors of the network, into a `PublishError` that begins with `what`."""
    try:
        with explained(what, _ADVICE):
            yield
    except GithubException as error:
        said = printable(str(error.message or ""))
        answered = f"GitHub answered {error.status}{f': {said}' if said else ''}"
        if error.status >= 500:
            raise PassingError(what, cause=answered, remedy="wait until GitHub works again") from error
        meaning, remedy = _MEANINGS.get(error.status, ("", ""))
        raise PublishError(what, cause=f"{answered}; {meaning}".removesuffix("; "), remedy=remedy) from error


def open_github(destination: Destination, settings: Mapping[str, str], tag: str) -> Place:
    """Return the place; nothing is asked yet.

    Raises:
        UsageError: That is no name of a repository.
    """
    name = settings["github-repository"]
    if name.count("/") != 1:
        raise UsageError(f"the repository of {destination.name} is {name!r}", remedy="expected OWNER/NAME")
    api = os.environ.get("GITHUB_API_URL", "https://api.github.com").rstrip("/")
    token = os.environ.get("GITHUB_TOKEN") or os.environ.get("GH_TOKEN") or ""
    # An upload that is repeated by the library would meet its own remains, so repeating is done here.
    client = Github(
        base_url=api,
        auth=Auth.Token(token) if token else None,
        retry=None,
        timeout=_SILENCE_S,
        per_page=100,
        seconds_between_requests=None,
        seconds_between_writes=None,
        lazy=True,  # opening a place asks nothing
    )
    pages = Path(settings["pages"]).absolute() if "pages" in settings else None
    default = pages / YANKED_FILENAME if pages else None
    return GithubRelease(
        client.get_repo(name),
        name,
        tag,
        settings.get("commit", ""),
        os.environ.get("GITHUB_SERVER_URL", "https://github.com").rstrip("/"),
        pages,
        Path(settings["yanked-file"]) if "yanked-file" in settings else default,
        token,
    )


GITHUB_RELEASE = PlaceKind(
    settings=(
        Setting(
            "github-repository",
            "OWNER/NAME, for a GitHub Release (default: GITHUB_REPOSITORY)",
            reading=True,
            required="repository",
            variable="GITHUB_REPOSITORY",
        ),
        Setting("commit", "what the tag is made at if GitHub lacks it (default: GITHUB_SHA)", variable="GITHUB_SHA"),
        Setting("pages", "folder that Pages serves; the index is written into its folder simple"),
        Setting("yanked-file", f"which wheels were withdrawn, and why (default: {YANKED_FILENAME} next to the index)"),
    ),
    open=open_github,
)
