# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A GitHub Release at a stand-in for `gh`: a draft until all is there, then never changed; and the index of all."""

import argparse
import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from gh_program import REPOSITORY, StandIn
from package_index import put_wheel
from pjrtwheel.attest.release_folder import ReleaseFolder
from pjrtwheel.errors import PublishError, UsageError
from pjrtwheel.files import hash_file
from pjrtwheel.publish.destinations import Destination, DestinationKind
from pjrtwheel.publish.github import GithubRelease
from pjrtwheel.publish.places import open_place
from release_folders import COMMIT, all_names, read_page, send, write_pure_release

TAG = "v1.2.3+split.1"
WHEEL = "jaxlib_abacus-1.2.3+split.1-py3-none-any.whl"
OTHER = "2" * 40
DESTINATION = Destination(DestinationKind.GITHUB, "github", "a GitHub Release")
Command = Callable[..., Any]


def open_at(pages: Path | None = None, tag: str = TAG) -> GithubRelease:
    """Return the place of a release; the pages, of our projects, are in the repository that has `yanked.toml`."""
    given = argparse.Namespace(pages=pages, root=pages or Path(os.devnull))
    place = open_place(DESTINATION, given, os.environ, tag)
    assert isinstance(place, GithubRelease)
    return replace(place, closure=lambda _: ())


def names_in(folder: Path) -> set[str]:
    """Return the names in a folder."""
    return {path.name for path in folder.iterdir()}


def test_a_draft_becomes_a_release_when_all_is_there(
    github_program: StandIn, release: ReleaseFolder, tmp_path: Path
) -> None:
    """At the commit, with METADATA next to each wheel; the index has absolute links."""
    github = github_program
    pages = tmp_path / "pages"
    assert open_at(pages).list_files([]) == {}
    send(open_at(pages), release, stop_after=5)
    assert (github.drafts, pages.exists()) == ({TAG: True}, False)
    send(open_at(pages), release)  # another run goes on
    assert (github.drafts, github.read(TAG)["commit"]) == ({TAG: False}, COMMIT)
    files = {name: file.sha256 for name, file in open_at().list_files([]).items()}
    assert files.keys() == all_names(release)
    assert files.items() >= release.digests.items()
    (entry,) = read_page(pages)
    address = f"https://github.com/{REPOSITORY}/releases/download/{quote(TAG)}/{quote(WHEEL)}"
    assert (entry["url"], entry["hashes"]) == (address, {"sha256": release.digests[WHEEL]})
    assert entry["core-metadata"] == {"sha256": files[f"{WHEEL}.metadata"]}
    assert entry["requires-python"] == ">=3.10"


def test_a_second_run_changes_nothing(github: StandIn, command: Command, release: ReleaseFolder) -> None:
    """GitHub is only asked, and nothing is downloaded but what the index is made of."""
    assert command("publish", "github", release.path).status == 0
    (github.store / "calls").unlink()
    assert command("publish", "github", release.path).status == 0
    assert {call[1] for call in github.calls if call[0] == "release"} == {"list", "view", "download"}
    assert not [call for call in github.calls if WHEEL in call]


@pytest.mark.parametrize("name", [WHEEL, f"{WHEEL}.metadata", "SHA256SUMS", "notes.txt"])
@pytest.mark.parametrize("draft", [True, False])
def test_other_bytes_refuse_everything(
    github: StandIn, command: Command, release: ReleaseFolder, name: str, *, draft: bool
) -> None:
    """In a draft as in a release; METADATA counts as well, which installers read in place of the wheel."""
    send(open_at(), release, stop_after=2)
    github.write(TAG, draft=draft)
    (github.assets(TAG) / name).write_bytes(b"other")
    before = names_in(github.assets(TAG))
    printed = command("publish", "github", release.path)
    assert (printed.status, name in printed.err) == (PublishError.exit_code, True)
    assert (names_in(github.assets(TAG)), github.drafts) == (before, {TAG: draft})


def test_a_release_that_was_published_in_part_does_not_change(
    github: StandIn, command: Command, release: ReleaseFolder
) -> None:
    """Somebody published the draft by hand."""
    send(open_at(), release, stop_after=5)
    github.write(TAG, draft=False)
    assert command("publish", "github", release.path).status == PublishError.exit_code
    assert len(names_in(github.assets(TAG))) == 5


@pytest.mark.parametrize("old", [False, True])
def test_what_a_killed_run_left_is_sent_whole(
    github: StandIn, command: Command, release: ReleaseFolder, *, old: bool
) -> None:
    """Half an asset is not listed; an older `gh` states no digests, and then files are downloaded to be compared."""
    github.set(old=old)
    send(open_at(), release, stop_after=7)
    (github.assets(TAG) / WHEEL).write_bytes(b"half")
    github.write(TAG, parts=[WHEEL])
    assert command("publish", "github", release.path).status == 0
    assert hash_file(github.assets(TAG) / WHEEL) == release.digests[WHEEL]
    assert ([WHEEL in call for call in github.calls if "--output" in call] != []) is old


@pytest.mark.parametrize("words", ["release view", "release create", "release upload", "release edit", "release list"])
def test_failures_of_github_publish_nothing(
    github: StandIn, command: Command, release: ReleaseFolder, words: str, tmp_path: Path
) -> None:
    """What `gh` said is shown; the release stays a draft, and no index is written; a later run is whole."""
    github.set(fail=[words, "HTTP 403: Resource not accessible", 0])
    arguments = ("publish", "github", release.path, "--pages", tmp_path / "pages")
    printed = command(*arguments)
    assert (printed.status, "Resource not accessible" in printed.err) == (PublishError.exit_code, True)
    assert (set(github.drafts.values()) <= {True}, (tmp_path / "pages").exists()) == (True, False)
    github.set(fail=None)
    assert command(*arguments).status == 0
    assert (github.drafts, names_in(github.assets(TAG))) == ({TAG: False}, all_names(release))


def test_a_machine_without_gh_is_told_so(
    command: Command, release: ReleaseFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With where it is to be had."""
    monkeypatch.setenv("GITHUB_REPOSITORY", REPOSITORY)
    monkeypatch.setenv("PATH", str(tmp_path))
    printed = command("publish", "github", release.path)
    assert (printed.status, "https://cli.github.com" in printed.err) == (PublishError.exit_code, True)


@pytest.mark.parametrize(("commit", "status"), [(COMMIT, 0), (OTHER, PublishError.exit_code)])
def test_a_tag_has_to_be_at_the_commit_of_the_wheels(
    github: StandIn, command: Command, release: ReleaseFolder, commit: str, status: int
) -> None:
    """Its release would say that the wheels were built from there; a dry run says so as well."""
    github.set(tags={TAG: commit})
    assert command("publish", "github", release.path, "--dry-run").status == status
    printed = command("publish", "github", release.path)
    assert (printed.status, OTHER[:12] in printed.err) == (status, bool(status))
    assert github.drafts == ({} if status else {TAG: False})


@pytest.mark.parametrize("name", ["", "wheels", "a/b/c/d"])
def test_a_place_needs_a_repository(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """By a variable that GitHub sets for its own jobs, or by an option."""
    monkeypatch.setenv("GITHUB_REPOSITORY", name)
    with pytest.raises(UsageError):
        open_at()


def test_a_server_of_ones_own_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the variable that its jobs have, or by the name of the repository."""
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.example")
    monkeypatch.setenv("GITHUB_REPOSITORY", REPOSITORY)
    assert open_at().address == f"https://github.example/{REPOSITORY}"
    monkeypatch.setenv("GITHUB_REPOSITORY", f"other.example/{REPOSITORY}")
    assert open_at().address == f"https://other.example/{REPOSITORY}"


@pytest.mark.usefixtures("github")
def test_an_index_takes_the_place_of_nothing_else(release: ReleaseFolder, tmp_path: Path) -> None:
    """That is known before anything is sent, or written down."""
    (tmp_path / "pages/simple").mkdir(parents=True)
    (tmp_path / "pages/simple/mine.html").touch()
    place = open_at(tmp_path / "pages")
    with pytest.raises(UsageError):
        place.check_uploads(release.commit, credentials=False)
    with pytest.raises(UsageError):
        place.write_index()


def exchange(folder: Path, name: str, data: bytes) -> None:
    """Exchange an asset, and what `release.json` says of it."""
    old = hash_file(folder / name)
    (folder / name).write_bytes(data)
    document = folder / "release.json"
    document.write_text(document.read_text().replace(old, hashlib.sha256(data).hexdigest()))


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (lambda folder: exchange(folder, WHEEL, b"another wheel"), "release.json"),
        (lambda folder: (folder / "release.json").write_text("{}"), "release.json"),
        (lambda folder: (folder / WHEEL).write_bytes(b"another wheel"), WHEEL),
        (lambda folder: (folder / WHEEL).unlink(), WHEEL),
        (lambda folder: (folder / "sbom.cdx.json").rename(folder / "x-variants.json"), "x-variants.json"),
        (lambda folder: (folder / "SHA256SUMS").unlink(), "SHA256SUMS"),
    ],
)
def test_an_older_release_that_was_altered_is_not_listed(
    github: StandIn, release: ReleaseFolder, tmp_path: Path, damage: Callable[[Path], None], named: str
) -> None:
    """Installers would get what somebody else put there: the index stays as it is, and the new release a draft."""
    pages = tmp_path / "pages"
    send(open_at(pages), release)
    before = read_page(pages)
    damage(github.assets(TAG))
    newer = write_pure_release(tmp_path / "v1.2.4", version="1.2.4")
    for folder in (pages, None):  # as in a job of its own for the pages
        with pytest.raises(PublishError) as caught:
            send(open_at(folder, "v1.2.4"), newer)
        assert TAG in caught.value.what
        assert named in caught.value.cause
    assert (read_page(pages), github.drafts) == (before, {TAG: False, "v1.2.4": True})


def test_the_index_lists_all_releases_with_their_withdrawals(
    github: StandIn, command: Command, release: ReleaseFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Drafts and releases of other things are left out."""
    pages = tmp_path / "pages"
    send(open_at(pages), release)
    send(open_at(pages, "v1.2.5"), write_pure_release(tmp_path / "v1.2.5", version="1.2.5"), stop_after=6)
    github.write("other", draft=False)
    send(open_at(pages, "v1.2.4"), write_pure_release(tmp_path / "v1.2.4", version="1.2.4"))
    decisions = tmp_path / "yanked.toml"
    decisions.write_text(f'[[yanked]]\nreason = "crashes"\ndate = "2026-11-22"\nwheel = "{WHEEL}"\n')
    monkeypatch.setattr("pjrtwheel.publish.places.YANKED_FILE", decisions)
    put_wheel(tmp_path / "index", "jax-1.2.4-py3-none-any.whl")
    done = command("pages", "github", "--pages", pages)
    assert (done.status, done.err) == (0, "")
    assert open_at(pages).list_files([])[WHEEL].yanked == "crashes"
    assert [(entry["filename"], entry["yanked"]) for entry in read_page(pages)] == [
        (WHEEL, "crashes"),
        ("jaxlib_abacus-1.2.4-py3-none-any.whl", False),
    ]


@pytest.mark.parametrize("arguments", [("github",), ("folder", "--pages", "pages"), ("company", "--pages", "pages")])
@pytest.mark.usefixtures("github")
def test_an_index_that_has_no_folder_of_its_own_is_not_written(command: Command, arguments: tuple[str, ...]) -> None:
    """Nobody is asked for anything."""
    assert command("pages", *arguments).status == UsageError.exit_code
