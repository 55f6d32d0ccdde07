# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A release in a folder with a static index: whole or not at all, and next to others."""

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from folders import snapshot
from pjrtwheel.attest.release_folder import ReleaseFolder, read_release_folder
from pjrtwheel.errors import PublishError, UsageError, WheelError
from pjrtwheel.files import hash_file
from pjrtwheel.products.index import check_place
from pjrtwheel.publish import static_folder
from pjrtwheel.publish.destinations import Destination, DestinationKind, Place
from pjrtwheel.publish.places import open_place
from pjrtwheel.publish.static_folder import StaticFolder
from release_folders import all_names, list_release, read_page, send, write_pure_release
from small_wheels import build_wheel, describe_wheel

TAG = "v1.2.3+split.1"
WHEEL = "jaxlib_abacus-1.2.3+split.1-py3-none-any.whl"
PROJECTS = ("jaxlib", "jaxlib-abacus")
DESTINATION = Destination(DestinationKind.FOLDER, "folder", "a folder")
Command = Callable[..., Any]


def open_at(folder: Path, tag: str = TAG) -> Place:
    """Return the place of a release; its index has our projects alone."""
    place = open_place(DESTINATION, argparse.Namespace(site=str(folder)), {}, tag)
    assert isinstance(place, StaticFolder)
    return replace(place, closure=lambda _: ())


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a folder that is not there yet."""
    return tmp_path / "site"


def test_a_release_appears_as_a_whole(release: ReleaseFolder, site: Path) -> None:
    """Until the end neither files nor pages are there; then pages link to the files, METADATA next to them."""
    place = open_at(site)
    assert place.list_files(PROJECTS) == {}
    send(place, release, stop_after=5)
    assert sorted(path.name for path in site.iterdir()) == [".uploads"]
    send(open_at(site), release)  # another run goes on
    assert sorted(path.name for path in site.iterdir()) == ["files", "index.html", "simple"]  # nothing else
    assert "simple/about.html" in (site / "index.html").read_text("utf-8")  # where people go on
    found = open_at(site).list_files(PROJECTS)
    assert {name: file.sha256 for name, file in found.items()}.items() >= release.digests.items()
    assert {file.yanked for file in found.values()} == {None}
    assert set(found) == all_names(release)
    (entry,) = read_page(site)
    assert entry["url"] == f"../../files/{quote(TAG)}/{quote(WHEEL)}"
    metadata = site / "files" / TAG / f"{WHEEL}.metadata"
    assert entry["core-metadata"] == {"sha256": hash_file(metadata)}
    assert (site / "simple/jaxlib-abacus" / f"../../files/{TAG}/{WHEEL}").is_file()
    assert read_release_folder(site / "files" / TAG) == replace(release, path=site / "files" / TAG)


def test_a_published_release_does_not_change(release: ReleaseFolder, site: Path, tmp_path: Path) -> None:
    """No file gets other bytes, nor does what waits to be published. A file that was lost comes back."""
    other = build_wheel(tmp_path, {"x.py": b""}, name=WHEEL)
    send(open_at(site), release, stop_after=7)
    with pytest.raises(PublishError, match="has another jaxlib_abacus"):
        open_at(site).upload(other, hash_file(other))
    send(open_at(site), release)
    before = snapshot(site)
    with pytest.raises(PublishError, match="has another jaxlib_abacus"):
        open_at(site).upload(other, hash_file(other))
    for name in all_names(release):
        (site / "files" / TAG / name).unlink()
        send(open_at(site), release)
    assert snapshot(site) == before
    with pytest.raises(UsageError):
        check_place(site)  # an index in its place would remove all releases
    (site / "index.v1+json").touch()
    with pytest.raises(UsageError):
        open_at(site)  # nor do releases go into an index


def test_what_another_run_is_sending_stays(release: ReleaseFolder, site: Path, tmp_path: Path) -> None:
    """It waits in the same folder."""
    other = write_pure_release(tmp_path / "v1.2.4", version="1.2.4")
    send(open_at(site, "v1.2.4"), other, stop_after=2)
    send(open_at(site), release)
    assert [path.name for path in (site / ".uploads").iterdir()] == ["v1.2.4"]
    send(open_at(site, "v1.2.4"), other)
    assert not (site / ".uploads").exists()


def test_a_file_that_changes_while_it_is_sent_is_not_kept(release: ReleaseFolder, site: Path) -> None:
    """What was copied is not what was meant."""
    with pytest.raises(PublishError, match="changed while it was copied"):
        open_at(site).upload(release.path / WHEEL, "0" * 64)
    assert open_at(site).list_files(PROJECTS) == {}


def test_a_wheel_of_another_release_with_the_same_name_is_refused(
    release: ReleaseFolder, site: Path, tmp_path: Path
) -> None:
    """Nothing of the second release becomes visible."""
    send(open_at(site), release)
    before = snapshot(site / "simple")
    other = write_pure_release(tmp_path / "other", ("jaxlib_abacus", "jaxlib_bead"))
    build_wheel(other.path, {**describe_wheel(WHEEL), "x.py": b""}, name=WHEEL)
    other = list_release(other.path, lock_id=TAG[1:])
    place = open_at(site, "v1.2.3+2")
    with pytest.raises(WheelError, match="has two files of the name"):
        send(place, other)
    assert snapshot(site / "simple") == before
    assert [path.name for path in (site / "files").iterdir()] == [TAG]


def test_a_published_wheel_that_was_altered_is_found(release: ReleaseFolder, site: Path) -> None:
    """No index is written that says something else than `release.json`; a page that was edited is written anew."""
    send(open_at(site), release)
    good = snapshot(site / "simple")
    (site / "simple/index.html").write_text("edited")
    (site / "files" / TAG / WHEEL).write_bytes(b"other")
    with pytest.raises(PublishError) as caught:
        open_at(site).finish()
    assert str(site / "files" / TAG) in caught.value.remedy
    assert (site / "simple/index.html").read_text() == "edited"
    (site / "files" / TAG / WHEEL).write_bytes((release.path / WHEEL).read_bytes())
    (site / "simple/index.html").write_bytes(good["index.html"])
    (site / "simple/jaxlib/index.html").unlink()
    open_at(site).finish()
    assert snapshot(site / "simple") == good


def test_a_run_that_stopped_before_the_index_goes_on(
    release: ReleaseFolder, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Installers see the index before; the next run finds the files, and writes the index."""
    send(open_at(site, "v1.2.2"), write_pure_release(tmp_path / "v1.2.2", version="1.2.2"))
    before = snapshot(site / "simple")
    with monkeypatch.context() as patch:
        patch.setattr(static_folder, "write_pages", raise_interrupt)
        with pytest.raises(KeyboardInterrupt):
            send(open_at(site), release)
    assert snapshot(site / "simple") == before
    assert set(open_at(site).list_files(PROJECTS)) == all_names(release)
    send(open_at(site), release)
    assert len(read_page(site)) == 2


def raise_interrupt(*_: object) -> None:
    """Stop as an interrupted run does."""
    raise KeyboardInterrupt


@pytest.mark.parametrize(("settings", "tag"), [({}, TAG), ({"site": "f"}, "../v1")])
def test_a_place_needs_a_folder_and_a_tag(settings: dict[str, str], tag: str) -> None:
    """A tag that leads out of the folder is refused."""
    with pytest.raises(UsageError):
        open_place(DESTINATION, argparse.Namespace(**settings), {}, tag)


@pytest.mark.parametrize("name", ["notes.txt", "jaxlib_other-1.2.3+split.1-py3-none-any.whl"])
def test_a_foreign_file_among_those_that_wait_is_refused(
    command: Command, release: ReleaseFolder, site: Path, tmp_path: Path, name: str
) -> None:
    """It would become public with the release, under no checksum; it is named, and nothing is sent."""
    send(open_at(site), release, stop_after=1)
    (build_wheel(tmp_path, {**describe_wheel(name)}, name=name) if name.endswith(".whl") else tmp_path / name).touch()
    open_at(site).upload(tmp_path / name, hash_file(tmp_path / name))
    printed = command("publish", "folder", release.path, "--site", site)
    assert (printed.status, name in printed.lines[1]) == (PublishError.exit_code, True)
    assert not (site / "simple").exists()


def test_a_release_is_withdrawn(command: Command, release: ReleaseFolder, site: Path) -> None:
    """An entry in the file, and `pages` writes the index that says why; until then there is nothing more to send."""
    publish = ("publish", "folder", release.path, "--site", site)
    assert command(*publish).status == 0
    again = command(*publish)
    assert (again.status, again.err, "; nothing to send" in again.out) == (0, "", True)
    assert [entry["yanked"] for entry in read_page(site, "jaxlib")] == [False]
    decided = f'[[yanked]]\ntag = "{TAG}"\nreason = "loses digits"\ndate = "2026-11-22"\n'
    (site / "yanked.toml").write_text(decided, "utf-8")
    done = command("pages", "folder", "--site", site)
    assert (done.status, done.err) == (0, "")
    assert [entry["yanked"] for entry in read_page(site, "jaxlib")] == ["loses digits"]
    again = command(*publish)
    assert (again.status, "loses digits" in again.lines[1]) == (PublishError.exit_code, True)
