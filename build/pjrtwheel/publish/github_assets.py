# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The assets of one GitHub Release: listed, read, and sent whole or not at all.

An upload that is cut leaves a part under the asset's name, which GitHub calls a `starter`; the next attempt removes it.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import requests
from github.GitRelease import GitRelease
from github.GitReleaseAsset import GitReleaseAsset

from pjrtwheel.errors import PublishError
from pjrtwheel.files import hash_file
from pjrtwheel.publish.answers import RETRY_WAITS_S, PassingError, explained, save_answer
from pjrtwheel.publish.github_repository import ADVICE, TIMEOUT_S, GithubRepository, explain_api
from pjrtwheel.publish.place import PublishedFile

_DIGEST = "sha256:"
_WHOLE = "uploaded"


@dataclass(frozen=True, slots=True)
class NewAsset:
    """What becomes an asset.

    Attributes:
        name: File name.
        sha256: Hexadecimal digest.
        size: Length in bytes.
        open: Returns the bytes from their beginning, for each attempt.
    """

    name: str
    sha256: str
    size: int
    open: Callable[[], BinaryIO]


def digest_of(asset: GitReleaseAsset) -> str:
    """Return the sha256 that GitHub states of an asset; empty for one from before it stated any."""
    digest = asset.digest or ""
    return digest.removeprefix(_DIGEST) if digest.startswith(_DIGEST) else ""


def is_whole(asset: GitReleaseAsset) -> bool:
    """Return whether an asset has all its bytes."""
    return asset.state == _WHOLE


@dataclass(frozen=True, slots=True)
class GithubAssets:
    """The assets of the releases of a repository.

    Attributes:
        repository: The repository.
        wait: Called with seconds to wait before an upload is repeated.
    """

    repository: GithubRepository
    wait: Callable[[float], None] = time.sleep

    def list_all(self, release: GitRelease) -> dict[str, GitReleaseAsset]:
        """Return the assets of a release by name, also those of which there is only a part.

        Raises:
            PublishError: GitHub cannot be asked.
        """
        with explain_api(f"cannot list the files of {release.tag_name} at {self.repository.address}"):
            return {asset.name: asset for asset in release.get_assets()}

    def fetch(self, file: PublishedFile, target: Path) -> None:
        """Download an asset, also of a draft; the caller compares its hash.

        Raises:
            PublishError: GitHub does not give it, or it cannot be written.
        """
        what = f"cannot download {file.name} from {self.repository.address}"
        headers = {"Accept": "application/octet-stream"}
        with (
            explained(what, ADVICE, target),
            requests.get(file.url, headers=headers, auth=self._sign, stream=True, timeout=TIMEOUT_S) as answer,
        ):
            save_answer(what, answer, target, file.size, ADVICE)

    def _sign(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Add the token to a request, which leads to another host that gets none; what .netrc has takes no part."""
        if self.repository.token:
            request.headers["Authorization"] = f"Bearer {self.repository.token}"
        return request

    def read(self, asset: GitReleaseAsset) -> bytes:
        """Return the bytes of a small asset.

        Raises:
            PublishError: GitHub does not give it, or other bytes than those of the digest that it states.
        """
        with self._fetched(asset) as path:
            data = path.read_bytes()
        if digest_of(asset) not in {"", hashlib.sha256(data).hexdigest()}:
            raise PublishError(
                f"{self.repository.address} serves other bytes as {asset.name} than it says", remedy="try again"
            )
        return data

    def hash(self, asset: GitReleaseAsset) -> str:
        """Return the sha256 of an asset, after downloading it if GitHub states none.

        Raises:
            PublishError: GitHub does not give it.
        """
        if stated := digest_of(asset):
            return stated
        with self._fetched(asset) as path:
            return hash_file(path)

    @contextmanager
    def _fetched(self, asset: GitReleaseAsset) -> Iterator[Path]:
        """Download an asset, and remove it again; see `fetch` for errors."""
        with tempfile.TemporaryDirectory(prefix="asset-") as scratch:
            target = Path(scratch) / "asset"
            self.fetch(PublishedFile(asset.name, digest_of(asset), asset.size, asset.url), target)
            yield target

    def send(self, release: GitRelease, new: NewAsset) -> None:
        """Send an asset to a draft unless it is there, and again if the server or the network failed.

        Raises:
            PublishError: GitHub refused it or states another digest, something else has its name, or the release is
                published without it.
        """
        for seconds in (*RETRY_WAITS_S, None):
            present = self.list_all(release).get(new.name)
            if present is not None and is_whole(present) and self.hash(present) == new.sha256:
                return
            self._make_room(release, new.name, present)
            try:
                with explain_api(f"{self.repository.address} did not take {new.name}"), new.open() as stream:
                    sent = release.upload_asset_from_memory(stream, new.size, new.name, "application/octet-stream")
            except PassingError:
                if seconds is None:
                    with suppress(PublishError):  # nothing half-uploaded stays, if GitHub can be asked at all
                        self._make_room(release, new.name, self.list_all(release).get(new.name))
                    raise
                self.wait(seconds)
            else:
                self._check_sent(release, sent, new)
                return

    def _make_room(self, release: GitRelease, name: str, present: GitReleaseAsset | None) -> None:
        """Remove what a cut upload left under a name.

        Raises:
            PublishError: Something else is there, or the release is published; or GitHub refused.
        """
        if present is None and release.draft:
            return
        if present is None or not release.draft or is_whole(present):
            there = f"{release.tag_name} at {self.repository.address}"
            raise PublishError(
                f"{there} has {'no' if present is None else 'another'} {name}",
                cause="it is published, and does not change" if not release.draft else "the draft is of other files",
                remedy="publish under another version" if not release.draft else "delete the draft, then publish again",
            )
        with explain_api(f"cannot remove what is left of {name}"):
            present.delete_asset()

    def _check_sent(self, release: GitRelease, sent: GitReleaseAsset, new: NewAsset) -> None:
        """Remove an asset again that GitHub renamed, or did not get whole.

        Raises:
            PublishError: It is not what was sent.
        """
        said = digest_of(sent)
        if sent.name == new.name and is_whole(sent) and said in {"", new.sha256}:
            return
        with explain_api(f"cannot remove {sent.name} from the draft of {release.tag_name}"):
            sent.delete_asset()
        raise PublishError(
            f"{self.repository.address} has {new.name} otherwise than it was sent; it was removed from the draft",
            cause=f"as {sent.name}, {sent.state}, sha256 {said}, expected {new.sha256}",
            remedy="publish again",
        )
