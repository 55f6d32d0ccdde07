# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A stand-in on loopback for the few calls of GitHub's API that releases are published with, and its failures.

It was written from GitHub's documentation of the API; GitHub itself was not asked.
"""

from __future__ import annotations

import hashlib
import http.server
import itertools
import json
import re
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

TOKEN = "a-token-that-nobody-may-see"  # noqa: S105 - of the stand-in
REPOSITORY = "someone/wheels"


@dataclass(slots=True)
class Asset:
    """A file of a release."""

    id: int
    name: str
    state: str = "starter"
    data: bytes = b""
    digest: str | None = None

    def describe(self, url: str) -> dict[str, Any]:
        """Return it as the API does."""
        return {
            "id": self.id,
            "url": f"{url}/repos/{REPOSITORY}/releases/assets/{self.id}",
            "name": self.name,
            "state": self.state,
            "size": len(self.data),
            "digest": self.digest,
        }


@dataclass(slots=True)
class Release:
    """A release, which starts as a draft."""

    id: int
    tag: str
    commit: str
    body: str
    draft: bool
    assets: list[Asset] = field(default_factory=list)


@dataclass(slots=True)
class GithubStandIn:
    """The state of one repository.

    Attributes:
        fail: Method and path → status to answer with in place of what was asked for, or nothing.
        cut: Names of assets of which one upload each is cut, which leaves a `starter`.
        lie: Names of assets of which another digest is stated.
        rename: Asset → the name that it gets instead.
        digests: Whether it states any; an older GitHub Enterprise Server does not.
        tags: Tag → the commit that it is at, or the id of a tag object.
        tag_objects: Id of an annotated tag's object → what it is at.
        calls: What was asked: method and path.
        tokens: The tokens that were sent.
    """

    releases: list[Release] = field(default_factory=list)
    fail: Callable[[str, str], int | None] = lambda _method, _path: None
    cut: set[str] = field(default_factory=set)
    lie: set[str] = field(default_factory=set)
    rename: dict[str, str] = field(default_factory=dict)
    digests: bool = True
    tags: dict[str, str] = field(default_factory=dict)
    tag_objects: dict[str, str] = field(default_factory=dict)
    calls: list[tuple[str, str]] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    url: str = ""
    _ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def files(self) -> dict[str, dict[str, str]]:
        """Tag, with ` (draft)` of a draft → name of each asset → its state."""
        return {
            f"{release.tag}{' (draft)' if release.draft else ''}": {asset.name: asset.state for asset in release.assets}
            for release in self.releases
        }

    def describe(self, release: Release) -> dict[str, Any]:
        """Return a release as the API does."""
        url = f"{self.url}/repos/{REPOSITORY}/releases/{release.id}"
        return {
            "id": release.id,
            "url": url,
            "upload_url": f"{url.replace('/repos/', '/uploads/repos/')}/assets{{?name,label}}",
            "tag_name": release.tag,
            "target_commitish": release.commit,
            "body": release.body,
            "draft": release.draft,
        }

    def describe_object(self, sha: str) -> dict[str, Any]:
        """Return what a tag is at, as the API does: a commit, or another tag's object."""
        kind = "tag" if sha in self.tag_objects else "commit"
        return {"sha": sha, "type": kind, "url": f"{self.url}/repos/{REPOSITORY}/git/{kind}s/{sha}"}

    def list_tags(self, beginning: str) -> list[dict[str, Any]]:
        """Return all tags that begin so, as the API does."""
        found = {tag: sha for tag, sha in self.tags.items() if tag.startswith(beginning)}
        return [{"ref": f"refs/tags/{tag}", "object": self.describe_object(sha)} for tag, sha in found.items()]

    def make_release(self, asked: dict[str, Any]) -> Release:
        """Make a draft, or a release."""
        release = Release(next(self._ids), asked["tag_name"], asked["target_commitish"], asked["body"], asked["draft"])
        self.releases.append(release)
        return release

    def make_asset(self, release: Release, name: str, data: bytes) -> Asset | None:
        """Keep an upload; nothing is returned for one that is cut."""
        asset = Asset(next(self._ids), self.rename.get(name, name))
        release.assets.append(asset)
        if name in self.cut:
            self.cut.remove(name)
            return None
        asset.data, asset.state = data, "uploaded"
        if self.digests:
            asset.digest = "sha256:" + hashlib.sha256(b"lie" if name in self.lie else data).hexdigest()
        return asset

    def find_asset(self, number: int) -> tuple[Release, Asset]:
        """Return an asset with its release."""
        return next((release, asset) for release in self.releases for asset in release.assets if asset.id == number)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer in one packet, or each waits for the one before to be acknowledged
    disable_nagle_algorithm = True
    github: GithubStandIn

    def log_message(self, *_: Any) -> None:
        """Stay silent."""

    def _handle(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path, _, query = self.path.partition("?")
        self.github.calls.append((self.command, path))
        if not path.startswith("/store/"):
            self.github.tokens.add(self.headers.get("Authorization", ""))
        status = self.github.fail(self.command, path)
        if status:
            self._answer(status, {"message": f"failure {status}"})
        else:
            self._serve(path.removeprefix("/uploads"), urllib.parse.parse_qs(query), data)

    do_GET = do_POST = do_PATCH = do_DELETE = _handle  # noqa: N815 - names of the base class

    def _serve(self, path: str, query: dict[str, list[str]], data: bytes) -> None:
        github, base = self.github, f"/repos/{REPOSITORY}/releases"
        if path == base:
            if self.command == "POST":
                self._answer(201, github.describe(github.make_release(json.loads(data))))
            else:
                self._answer(200, [github.describe(release) for release in github.releases])
        elif match := re.fullmatch(r"/store/(\d+)", path):
            self._serve_bytes(int(match[1]))
        elif match := re.fullmatch(rf"/repos/{REPOSITORY}/git/matching-refs/tags%2F(.+)", path):
            self._answer(200, github.list_tags(urllib.parse.unquote(match[1])))
        elif match := re.fullmatch(rf"/repos/{REPOSITORY}/git/tags/([0-9a-f]+)", path):
            self._answer(200, {"sha": match[1], "object": github.describe_object(github.tag_objects[match[1]])})
        elif match := re.fullmatch(rf"{base}/assets/(\d+)", path):
            self._serve_asset(int(match[1]))
        elif match := re.fullmatch(rf"{base}/(\d+)(/assets)?", path):
            release = next(release for release in github.releases if release.id == int(match[1]))
            self._serve_release(release, query, data, assets=bool(match[2]))
        else:
            self._answer(404, {"message": "Not Found"})

    def _serve_asset(self, number: int) -> None:
        release, asset = self.github.find_asset(number)
        if self.command == "DELETE":
            release.assets.remove(asset)
            self._answer(204, None)
        else:
            self._send(
                302, b"", "text/plain", Location=f"{self.github.url.replace('127.0.0.1', 'localhost')}/store/{number}"
            )

    def _serve_bytes(self, number: int) -> None:
        """Serve an asset as GitHub's storage does, which refuses who brings credentials of another host."""
        _, asset = self.github.find_asset(number)
        signed = "Authorization" in self.headers
        self._send(400 if signed else 200, b"" if signed else asset.data, "application/octet-stream")

    def _serve_release(self, release: Release, query: dict[str, list[str]], data: bytes, *, assets: bool) -> None:
        if self.command == "PATCH":
            release.draft = json.loads(data)["draft"]
        if not assets:
            self._answer(200, self.github.describe(release))
        elif self.command == "GET":
            self._answer(200, [asset.describe(self.github.url) for asset in release.assets])
        elif any(asset.name == query["name"][0] for asset in release.assets):
            self._answer(422, {"message": "Validation Failed", "errors": [{"code": "already_exists"}]})
        else:
            asset = self.github.make_asset(release, query["name"][0], data)
            if asset is None:
                self.close_connection = True  # without an answer
            else:
                self._answer(201, asset.describe(self.github.url))

    def _answer(self, status: int, content: object) -> None:
        self._send(status, b"" if content is None else json.dumps(content).encode(), "application/json")

    def _send(self, status: int, data: bytes, kind: str, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serve_github() -> Iterator[GithubStandIn]:
    """Run the stand-in on loopback."""
    github = GithubStandIn()
    handler = type("Handler", (_Handler,), {"github": github})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        github.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield github
        finally:
            server.shutdown()
            thread.join()
