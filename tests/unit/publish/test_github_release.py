# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A GitHub Release at a stand-in for GitHub: a draft until all is there, then never changed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from github_places import PROJECTS, SERVER, TAG, WAITS, WHEEL, open_at, read_page
from github_stand_in import REPOSITORY, TOKEN, GithubStandIn
from pjrtwheel.attest.release_folder import ReleaseFolder
from pjrtwheel.errors import PublishError, UsageError
from pjrtwheel.files import hash_file
from release_folders import COMMIT, send
from small_wheels import build_wheel

OTHER = "2" * 40
Command = Callable[..., Any]


@pytest.fixture
def folder(release: ReleaseFolder) -> Path:
    """Return the folder of a release."""
    return release.path


def all_names(release: ReleaseFolder) -> set[str]:
    """Return the names of all assets of a release."""
    return {*release.documents, *release.wheels, *(f"{name}.metadata" for name in release.wheels)}


def failing(method: str, part: str, status: int, times: int = 1000) -> Callable[[str, str], int | None]:
    """Return a failure of some calls, so many times."""
    left = [times]

    def fail(asked: str, path: str) -> int | None:
        if asked == method and part in path and left[0]:
            left[0] -= 1
            return status
        return None

    return fail


def test_a_draft_becomes_a_release_when_all_is_there(
    github: GithubStandIn, release: ReleaseFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the commit, with METADATA next to each wheel; the index has absolute links. Nothing but the token is sent."""
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password other\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    place = open_at(tmp_path / "pages")
    assert place.list_files(PROJECTS) == {}
    send(place, release, stop_after=5)
    assert list(github.files) == [f"{TAG} (draft)"]
    assert not (tmp_path / "pages").exists()
    send(open_at(tmp_path / "pages"), release)  # another run goes on
    assert github.files == {TAG: dict.fromkeys(github.files[TAG], "uploaded")}
    assert set(github.files[TAG]) == all_names(release)
    assert [(made.tag, made.commit) for made in github.releases] == [(TAG, COMMIT)]
    assert {sent.split()[-1] for sent in github.tokens} == {TOKEN}
    known = {**release.digests, "SHA256SUMS": hash_file(release.path / "SHA256SUMS")}
    assert {name: file.sha256 for name, file in open_at().list_files(PROJECTS).items()} == known
    (entry,) = read_page(tmp_path / "pages")
    address = f"{SERVER}/{REPOSITORY}/releases/download/{quote(TAG)}/{quote(WHEEL)}"
    assert (entry["url"], entry["hashes"]) == (address, {"sha256": release.digests[WHEEL]})
    (metadata,) = (asset for made in github.releases for asset in made.assets if asset.name == f"{WHEEL}.metadata")
    assert entry["core-metadata"] == {"sha256": str(metadata.digest).removeprefix("sha256:")}


def test_a_second_run_changes_nothing(github: GithubStandIn, release: ReleaseFolder, tmp_path: Path) -> None:
    """GitHub is only asked."""
    send(open_at(tmp_path / "pages"), release)
    before = {path: path.read_bytes() for path in tmp_path.rglob("pages/**/*") if path.is_file()}
    github.calls.clear()
    send(open_at(tmp_path / "pages"), release)
    assert {method for method, _ in github.calls} == {"GET"}
    assert {path: path.read_bytes() for path in tmp_path.rglob("pages/**/*") if path.is_file()} == before


def test_a_published_release_does_not_change(github: GithubStandIn, release: ReleaseFolder, tmp_path: Path) -> None:
    """Neither other bytes nor another file; nor does a draft of other files."""
    other = build_wheel(tmp_path, {"x.py": b""}, name=WHEEL)
    send(open_at(), release, stop_after=5)
    with pytest.raises(PublishError, match="the draft is of other files"):
        open_at().upload(other, hash_file(other))
    send(open_at(), release)
    more = build_wheel(tmp_path, {}, name="jaxlib_bead-1.0-py3-none-any.whl")
    for file in (other, more):
        with pytest.raises(PublishError, match="it is published, and does not change"):
            open_at().upload(file, hash_file(file))
    assert set(github.files[TAG]) == all_names(release)


def test_an_upload_that_was_cut_is_removed_and_repeated(github: GithubStandIn, release: ReleaseFolder) -> None:
    """In the same run."""
    github.cut = {WHEEL}
    send(open_at(), release)
    assert github.files[TAG][WHEEL] == "uploaded"


def test_what_a_killed_run_left_is_removed(github: GithubStandIn, release: ReleaseFolder) -> None:
    """A half-uploaded asset is not listed, and the next run sends it whole."""
    send(open_at(), release, stop_after=3)
    github.cut = {WHEEL}
    github.make_asset(github.releases[0], WHEEL, b"")
    assert github.files[f"{TAG} (draft)"][WHEEL] == "starter"
    assert WHEEL not in open_at().list_files(PROJECTS)
    send(open_at(), release)
    assert github.files == {TAG: dict.fromkeys(github.files[TAG], "uploaded")}


@pytest.mark.parametrize("altered", [False, True])
def test_assets_without_digests_are_read_back(github: GithubStandIn, release: ReleaseFolder, *, altered: bool) -> None:
    """As of an older server: the next run goes on, unless what is there is something else."""
    github.digests = False
    send(open_at(), release, stop_after=6)
    (draft,) = github.releases
    draft.assets = [asset for asset in draft.assets if asset.name != WHEEL]  # killed between METADATA and wheel
    if altered:
        next(asset for asset in draft.assets if asset.name == f"{WHEEL}.metadata").data += b"!"
        with pytest.raises(PublishError, match=r"has another .*\.metadata"):
            send(open_at(), release)
    else:
        send(open_at(), release)
        assert github.files == {TAG: dict.fromkeys(all_names(release), "uploaded")}


def test_half_an_asset_of_something_else_is_not_published(github: GithubStandIn, release: ReleaseFolder) -> None:
    """It is listed nowhere, and would stay in the release."""
    send(open_at(), release, stop_after=5)
    github.cut = {"notes.txt"}
    github.make_asset(github.releases[0], "notes.txt", b"")
    with pytest.raises(PublishError, match=r"has only a part of notes\.txt"):
        send(open_at(), release)
    assert github.releases[0].draft


@pytest.mark.parametrize("wrong", ["lie", "rename"])
def test_an_asset_that_is_not_what_was_sent_is_removed(
    github: GithubStandIn, release: ReleaseFolder, wrong: str
) -> None:
    """Another digest, or another name; the draft is not published."""
    github.lie = {WHEEL} if wrong == "lie" else set()
    github.rename = {WHEEL: WHEEL.replace("+", ".")} if wrong == "rename" else {}
    with pytest.raises(PublishError, match="otherwise than it was sent"):
        send(open_at(), release)
    (state,) = github.files
    assert state == f"{TAG} (draft)"
    assert [name for name in github.files[state] if "abacus" in name and name.endswith(".whl")] == []


@pytest.mark.parametrize(
    ("status", "cause"),
    [
        (401, "the token is not valid"),
        (403, "the token may not do that"),
        (404, "there is no such repository"),
        (422, "GitHub does not accept it"),
        (500, "GitHub answered 500"),
    ],
)
@pytest.mark.parametrize(
    ("method", "part"), [("GET", "/releases"), ("POST", "/uploads"), ("PATCH", "/releases"), ("POST", "/releases")]
)
def test_failures_of_github_publish_nothing(
    github: GithubStandIn, release: ReleaseFolder, status: int, cause: str, method: str, part: str, tmp_path: Path
) -> None:
    """The release stays a draft, no index is written, the token is in no message; a later run is whole."""
    github.fail = failing(method, part, status)
    with pytest.raises(PublishError) as caught:
        send(open_at(tmp_path / "pages"), release)
    assert cause in str(caught.value)
    assert TOKEN not in str(caught.value)
    assert [made.tag for made in github.releases if not made.draft] == []
    assert not (tmp_path / "pages").exists()
    github.fail = failing("", "", 0, 0)
    send(open_at(tmp_path / "pages"), release)
    assert github.files == {TAG: dict.fromkeys(all_names(release), "uploaded")}


def test_a_server_that_fails_for_a_while_is_asked_again(github: GithubStandIn, release: ReleaseFolder) -> None:
    """One file, twice."""
    WAITS.clear()
    github.fail = failing("POST", "/uploads", 502, times=2)
    send(open_at(), release)
    assert (list(github.files), WAITS) == ([TAG], [1.0, 4.0])


def test_wheels_without_metadata_are_not_published(github: GithubStandIn, release: ReleaseFolder) -> None:
    """Somebody removed an asset of the draft."""
    send(open_at(), release, stop_after=6)
    made = github.releases[0]
    made.assets = [asset for asset in made.assets if not asset.name.endswith(".metadata")]
    with pytest.raises(PublishError, match="has no METADATA of"):
        open_at().finish()
    assert made.draft


def test_metadata_that_is_not_the_wheels_is_refused(
    github: GithubStandIn, release: ReleaseFolder, tmp_path: Path
) -> None:
    """Installers read it in place of the wheel, and would install what it asks for."""
    send(open_at(), release)
    asset = next(asset for asset in github.releases[0].assets if asset.name == f"{WHEEL}.metadata")
    asset.data += b"Requires-Dist: somebody-elses-package\n"
    asset.digest = f"sha256:{hashlib.sha256(asset.data).hexdigest()}"
    place = open_at()
    with pytest.raises(PublishError, match=f"has another {re.escape(WHEEL)}.metadata"):
        place.download(place.list_files(PROJECTS)[WHEEL], tmp_path / "back.whl")


def test_several_releases_of_a_tag_are_refused(github: GithubStandIn, release: ReleaseFolder) -> None:
    """Nobody knows which one is meant."""
    send(open_at(), release, stop_after=2)
    github.releases.append(github.releases[0])
    with pytest.raises(PublishError, match="has 2 releases of"):
        open_at().list_files(PROJECTS)


def test_files_come_back_as_they_were_sent(github: GithubStandIn, release: ReleaseFolder, tmp_path: Path) -> None:
    """From a draft as well; a file that is gone is an error."""
    place = open_at()
    send(place, release, stop_after=6)
    found = place.list_files(PROJECTS)[WHEEL]
    place.download(found, tmp_path / "back.whl")
    assert hash_file(tmp_path / "back.whl") == release.digests[WHEEL]
    github.fail = failing("GET", "/assets/", 404)
    with pytest.raises(PublishError, match="cannot download"):
        place.download(found, tmp_path / "back.whl")


def test_a_tag_at_the_commit_of_the_wheels_is_taken(github: GithubStandIn, command: Command, folder: Path) -> None:
    """An annotated tag has an object of its own, and may be of another tag; others that begin like it are not asked."""
    github.tags = {TAG: "a" * 40, f"{TAG}0": OTHER}
    github.tag_objects = {"a" * 40: "b" * 40, "b" * 40: COMMIT}
    done = command("publish", "github", folder)
    assert (done.status, done.err) == (0, "")
    assert list(github.files) == [TAG]


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
@pytest.mark.parametrize("annotated", [False, True])
def test_a_tag_at_another_commit_is_refused(
    github: GithubStandIn, command: Command, folder: Path, options: tuple[str, ...], *, annotated: bool
) -> None:
    """Its release would say that the wheels were built from there."""
    github.tags = {TAG: "a" * 40 if annotated else OTHER}
    github.tag_objects = {"a" * 40: OTHER} if annotated else {}
    done = command("publish", "github", folder, *options)
    assert (done.status, done.lines) == (
        PublishError.exit_code,
        [
            f"{SERVER}/{REPOSITORY} has the tag {TAG} at {OTHER[:12]}",
            f"       the wheels were built from {COMMIT[:12]}",
            "       build the wheels at the commit of the tag, or set the tag on theirs",
        ],
    )
    assert github.releases == []


def test_a_release_is_not_made_at_another_commit(
    github: GithubStandIn, command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tag that is not there yet would be made at it."""
    monkeypatch.setenv("GITHUB_SHA", OTHER)
    done = command("publish", "github", folder, "--dry-run")
    assert (done.status, done.lines) == (
        PublishError.exit_code,
        [
            f"{TAG} would be made at {OTHER[:12]}",
            f"       the wheels were built from {COMMIT[:12]}",
            f"       publish them with --commit {COMMIT}, or build them at the other",
        ],
    )
    assert command("publish", "github", folder, "--commit", COMMIT).status == 0
    assert [(made.tag, made.commit) for made in github.releases] == [(TAG, COMMIT)]


def test_a_place_needs_a_repository_and_a_commit(
    github: GithubStandIn, release: ReleaseFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is named in the environment or by an option; nothing shows the token."""
    assert TOKEN not in repr(open_at())
    monkeypatch.delenv("GITHUB_SHA")
    with pytest.raises(UsageError, match="the commit of"):
        send(open_at(), release)
    monkeypatch.delenv("GITHUB_REPOSITORY")
    with pytest.raises(UsageError, match="the repository of github is not known"):
        open_at()
    assert github.releases == []


@pytest.mark.usefixtures("github")
def test_what_is_missing_is_said_before_anything_is_sent(
    release: ReleaseFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dry run asks for it as well, but for the token; a release that is there needs no commit."""
    (tmp_path / "pages/simple").mkdir(parents=True)
    (tmp_path / "pages/simple/mine.html").touch()
    with pytest.raises(UsageError, match="is not an index made here") as caught:
        open_at(tmp_path / "pages").check_uploads(COMMIT, credentials=False)
    assert caught.value.remedy == "move it away, or name another folder with --pages"
    with pytest.raises(UsageError, match="is not an index made here"):
        open_at(tmp_path / "pages").yank([WHEEL], "crashes")
    assert not (tmp_path / "pages/yanked.toml").exists()
    monkeypatch.delenv("GITHUB_TOKEN")
    monkeypatch.delenv("GH_TOKEN", raising=False)
    open_at().check_uploads(COMMIT, credentials=False)
    with pytest.raises(PublishError, match="there is no token"):
        open_at().check_uploads(COMMIT, credentials=True)
    monkeypatch.delenv("GITHUB_SHA")
    with pytest.raises(UsageError, match="the commit of"):
        open_at().check_uploads(COMMIT, credentials=False)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.setenv("GITHUB_SHA", COMMIT)
    send(open_at(), release)
    monkeypatch.delenv("GITHUB_SHA")
    open_at().check_uploads(COMMIT, credentials=True)
