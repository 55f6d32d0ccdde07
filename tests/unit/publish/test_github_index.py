# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The index of all GitHub Releases, at a stand-in for GitHub: what it lists, and what it refuses to list."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from github_places import PROJECTS, WHEEL, open_at, read_page
from github_stand_in import Asset, GithubStandIn
from pjrtwheel.attest.release_folder import ReleaseFolder
from pjrtwheel.errors import PublishError
from pjrtwheel.record.entries import RELEASE_FILENAME
from release_folders import COMMIT, send, write_pure_release


def lists_another_wheel(assets: dict[str, Asset]) -> None:
    """Exchange a wheel, and what `release.json` says of it."""
    old, data = hashlib.sha256(assets[WHEEL].data).hexdigest(), b"another wheel"
    exchange(assets[WHEEL], data)
    text = assets["release.json"].data.replace(old.encode(), hashlib.sha256(data).hexdigest().encode())
    exchange(assets["release.json"], text)


def exchange(asset: Asset, data: bytes) -> None:
    """Exchange an asset as its owner can, of which GitHub states another digest then."""
    asset.data, asset.digest = data, f"sha256:{hashlib.sha256(data).hexdigest()}"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lists_another_wheel, rf"its SHA256SUMS lists\ndiffering: {re.escape(WHEEL)}, release\.json"),
        (lambda assets: exchange(assets["release.json"], assets["release.json"].data + b"\n"), r"differing: release"),
        (
            lambda assets: setattr(assets["sbom.cdx.json"], "name", "jaxlib_abacus-1.2.3+split.1-variants.json"),
            r"differing: jaxlib_abacus-1\.2\.3\+split\.1-variants\.json",
        ),
        (lambda assets: exchange(assets[WHEEL], b"another wheel"), "has another jaxlib_abacus"),
        (lambda assets: setattr(assets["SHA256SUMS"], "name", "SUMS"), r"v1\.2\.3\+split\.1 .* has no SHA256SUMS"),
    ],
)
def test_an_older_release_that_was_altered_is_not_listed(
    github: GithubStandIn,
    release: ReleaseFolder,
    tmp_path: Path,
    damage: Callable[[dict[str, Asset]], None],
    message: str,
) -> None:
    """Installers would get what somebody else put there: the index stays as it is, and the new release a draft."""
    pages = tmp_path / "pages"
    send(open_at(pages), release)
    before = read_page(pages)
    damage({asset.name: asset for asset in github.releases[0].assets})
    newer = write_pure_release(tmp_path / "v1.2.4", version="1.2.4")
    for folder in (pages, None):  # as in a job of its own for the pages
        with pytest.raises(PublishError, match=message):
            send(open_at(folder, "v1.2.4"), newer)
    assert read_page(pages) == before
    assert github.releases[1].draft


def test_the_index_lists_all_releases_with_their_withdrawals(
    github: GithubStandIn, release: ReleaseFolder, tmp_path: Path
) -> None:
    """Drafts and releases of other things are left out; a wheel that is not the listed one is refused."""
    pages = tmp_path / "pages"
    send(open_at(pages), release)
    send(open_at(pages, "v1.2.4"), write_pure_release(tmp_path / "v1.2.4", version="1.2.4"))
    send(open_at(pages, "v1.2.5"), write_pure_release(tmp_path / "v1.2.5", version="1.2.5"), stop_after=6)
    github.make_release({"tag_name": "other", "target_commitish": COMMIT, "body": "", "draft": False})
    open_at(pages).yank([WHEEL], "crashes")
    assert [(entry["filename"], entry["yanked"]) for entry in read_page(pages)] == [
        (WHEEL, "crashes"),
        ("jaxlib_abacus-1.2.4-py3-none-any.whl", False),
    ]
    assert open_at(pages).list_files(PROJECTS)[WHEEL].yanked == "crashes"
    asset = next(asset for asset in github.releases[0].assets if asset.name == WHEEL)
    asset.digest = "sha256:" + "0" * 64
    with pytest.raises(PublishError, match="has another jaxlib_abacus"):
        open_at(pages).finish()


@pytest.mark.parametrize("size", [0, 1])
def test_an_asset_without_a_digest_is_believed_as_far_as_its_size(
    github: GithubStandIn, release: ReleaseFolder, tmp_path: Path, size: int
) -> None:
    """An older server states none: other bytes of the same number are not noticed without a download, others are."""
    github.digests = False
    send(open_at(), release)
    asset = next(asset for asset in github.releases[0].assets if asset.name == WHEEL)
    asset.data = bytes(len(asset.data) + size)
    index = open_at(tmp_path / "pages").index
    if size:
        cause = rf"{RELEASE_FILENAME} lists it with {len(asset.data) - 1} bytes, GitHub has {len(asset.data)}"
        with pytest.raises(PublishError, match=rf"has another {re.escape(WHEEL)}\n.*{cause}"):
            index.write(index.list_projects())
        assert not (tmp_path / "pages").exists()
    else:
        index.write(index.list_projects())
        assert [entry["hashes"] for entry in read_page(tmp_path / "pages")] == [{"sha256": release.digests[WHEEL]}]
