# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A GitHub Release as a destination: a draft until all is there, published as a whole, and not changed any more.

METADATA of each wheel is an asset next to it, because installers look for it there (PEP 658). The static index whose
links point at the assets is in `github_index.py`. What the tag is made at is in the variable `GITHUB_SHA`, which GitHub
sets for its own jobs; `github_repository.py` names the others.

All this was written from GitHub's documentation and run against a stand-in (tests/support/github_stand_in.py), not
against GitHub itself.
"""

from __future__ import annotations

import hashlib
import io
import tempfile
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from github.GithubObject import NotSet
from github.GitRelease import GitRelease

from pjrtwheel.errors import PublishError, UsageError, WheelError
from pjrtwheel.publish.destinations import Destination
from pjrtwheel.publish.github_assets import GithubAssets, NewAsset, digest_of, is_whole
from pjrtwheel.publish.github_index import GithubIndex, open_index
from pjrtwheel.publish.github_repository import REPOSITORY_SETTING, GithubRepository, explain_api
from pjrtwheel.publish.place import Place, PlaceKind, PublishedFile, Setting
from pjrtwheel.publish.yanked import YANKED_FILE
from pjrtwheel.wheel.names import METADATA_SUFFIX
from pjrtwheel.wheel.read.unpack import read_metadata


@dataclass(slots=True)
class GithubRelease:
    """One release of a repository.

    Attributes:
        repository: The repository, of which nothing was asked yet.
        tag: Tag of the release.
        commit: What the tag is made at if it is not there.
        index: The index of all releases.
        wait: Called with seconds to wait.
    """

    repository: GithubRepository
    tag: str
    commit: str
    index: GithubIndex
    wait: Callable[[float], None] = time.sleep
    _found: GitRelease | None = field(default=None, repr=False)

    @property
    def address(self) -> str:
        """The repository's address."""
        return self.repository.address

    def list_files(self, projects: Collection[str]) -> Mapping[str, PublishedFile]:  # noqa: ARG002
        """Return the release's whole assets, published or in a draft, without METADATA next to its wheel.

        Raises:
            PublishError: GitHub cannot be asked, or has several releases of the tag.
        """
        release = self._find_release()
        if release is None:
            return {}
        assets = self._assets.list_all(release)
        derived = {f"{name}{METADATA_SUFFIX}" for name in assets}
        shown = [asset for name, asset in assets.items() if is_whole(asset) and name not in derived]
        reasons = self.index.find_reasons(self.tag, [asset.name for asset in shown])
        return {
            asset.name: PublishedFile(asset.name, digest_of(asset), asset.size, asset.url, reasons.get(asset.name))
            for asset in shown
        }

    def check_uploads(self, commit: str, *, credentials: bool) -> None:
        """Make sure that a draft could be made, at the commit of the wheels, and an index be written.

        Raises:
            UsageError: The commit is not known, or the folder of the index holds something else.
            PublishError: The tag is or would be at another commit, there is no token, or GitHub cannot be asked.
        """
        if self._find_release() is None:
            self._require_commit()
        self._check_commit(commit)
        self.index.check_pages()
        if credentials and not self.repository.token:
            raise PublishError(f"there is no token for {self.address}", remedy="give one in GITHUB_TOKEN")

    def upload(self, file: Path, sha256: str) -> None:
        """Send one file to the draft, which is made first; METADATA of a wheel goes before it.

        Raises:
            PublishError: GitHub refused it, states another digest, has other bytes of that name, or the release is
                published without it.
            UsageError: The commit is not known that the draft would be made at.
        """
        assets = [NewAsset(file.name, sha256, file.stat().st_size, lambda: file.open("rb"))]
        if file.name.endswith(".whl"):
            metadata = read_metadata(file)
            name, digest = f"{file.name}{METADATA_SUFFIX}", hashlib.sha256(metadata).hexdigest()
            assets.insert(0, NewAsset(name, digest, len(metadata), lambda: io.BytesIO(metadata)))
        for asset in assets:
            self._assets.send(self._make_release(), asset)

    def download(self, file: PublishedFile, target: Path) -> None:
        """Fetch an asset back, also of a draft; a wheel together with the METADATA that installers read in its place.

        Raises:
            PublishError: GitHub does not give it, or has other METADATA next to it than the wheel's own.
        """
        self._assets.fetch(file, target)
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
        assets = self._assets.list_all(release) if release and expected else {}
        neighbour = assets.get(f"{file.name}{METADATA_SUFFIX}")
        if neighbour is not None and self._assets.read(neighbour) != expected:
            raise PublishError(
                f"{self.address} has another {neighbour.name}",
                cause="it is not METADATA of the wheel: somebody replaced it",
                remedy="delete that asset, then publish again",
            )

    def finish(self) -> None:
        """Publish the draft, then write the index.

        Raises:
            PublishError: A wheel lacks its METADATA, or GitHub refused.
        """
        release = self._find_release()
        if release is None:
            raise PublishError(f"nothing of {self.tag} was sent to {self.address}")
        assets = self._assets.list_all(release)
        lacking = [name for name in assets if name.endswith(".whl") and f"{name}{METADATA_SUFFIX}" not in assets]
        if lacking:
            raise PublishError(f"{self.address} has no METADATA of {lacking[0]}", remedy="publish again")
        if parts := [name for name, asset in assets.items() if not is_whole(asset)]:
            raise PublishError(f"{self.address} has only a part of {parts[0]}", remedy="delete it from the draft")
        projects = self.index.list_projects(release)  # also where others write it: if it fails, all stays a draft
        if release.draft:
            with explain_api(f"{self.address} did not publish {self.tag}"):
                commit = self.commit or NotSet  # that of the draft stays
                self._found = release.update_release(self.tag, release.body or "", draft=False, target_commitish=commit)
        self.index.write(projects)

    def yank(self, names: Collection[str], reason: str) -> str:
        """Write the withdrawal down, and the index with it if there is a folder for that.

        Raises:
            UsageError: The folder of the index holds something else.
            PublishError: GitHub cannot be asked, or a release is not what its `SHA256SUMS` lists.
        """
        self.index.yank(names, reason)
        return f"it is in {self.index.yanked_file}: commit that to main, and pages.yml deploys the index with it"

    @property
    def _assets(self) -> GithubAssets:
        """The assets of the repository's releases."""
        return GithubAssets(self.repository, self.wait)

    def _find_release(self) -> GitRelease | None:
        """Return the release of the tag, which may be a draft; see `GithubRepository.find_release` for errors."""
        if self._found is None:
            self._found = self.repository.find_release(self.tag)
        return self._found

    def _make_release(self) -> GitRelease:
        """Return the release; a draft is made if there is none.

        Raises:
            UsageError: The commit is not known.
            PublishError: GitHub refused, or cannot be asked.
        """
        release = self._find_release()
        if release is None:
            self._require_commit()
            release = self._found = self.repository.make_draft(self.tag, self.commit)
        return release

    def _check_commit(self, built: str) -> None:
        """Raise a `PublishError` unless the tag is, or would be made, at the commit that the wheels were built from."""
        cause = f"the wheels were built from {built[:12]}"
        if self.commit and self.commit != built:
            raise PublishError(
                f"{self.tag} would be made at {self.commit[:12]}",
                cause=cause,
                remedy=f"publish them with --commit {built}, or build them at the other",
            )
        tagged = self.repository.find_commit(self.tag)
        if tagged and tagged != built:
            raise PublishError(
                f"{self.address} has the tag {self.tag} at {tagged[:12]}",
                cause=cause,
                remedy="build the wheels at the commit of the tag, or set the tag on theirs",
            )

    def _require_commit(self) -> None:
        """Raise a `UsageError` if it is not known what the tag is made at."""
        if not self.commit:
            raise UsageError(f"the commit of {self.tag} is not known", remedy="give it with --commit, or in GITHUB_SHA")


def open_github(destination: Destination, settings: Mapping[str, str], tag: str) -> Place:
    """Return the place; nothing is asked yet.

    Raises:
        UsageError: That is no name of a repository.
    """
    index = open_index(destination, settings)
    return GithubRelease(index.repository, tag, settings.get("commit", ""), index)


GITHUB_RELEASE = PlaceKind(
    settings=(
        Setting(
            REPOSITORY_SETTING,
            "OWNER/NAME, for a GitHub Release (default: GITHUB_REPOSITORY)",
            reading=True,
            required="repository",
            variable="GITHUB_REPOSITORY",
        ),
        Setting("commit", "what the tag is made at if GitHub lacks it (default: GITHUB_SHA)", variable="GITHUB_SHA"),
        Setting("pages", "folder that Pages serves; the index is written into its folder simple"),
        Setting("yanked-file", f"which wheels were withdrawn, and why (default: {YANKED_FILE})", default=YANKED_FILE),
    ),
    open=open_github,
)
