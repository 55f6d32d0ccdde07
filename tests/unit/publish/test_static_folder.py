# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A release in a folder with a static index: whole or not at all, next to others, and never what a page says."""

from __future__ import annotations

import argparse
import errno
import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from pjrtwheel.attest.release_folder import ReleaseFolder, read_release_folder
from pjrtwheel.errors import PublishError, UsageError, WheelError
from pjrtwheel.files import hash_file
from pjrtwheel.publish import static_folder
from pjrtwheel.publish.destinations import Destination, Kind
from pjrtwheel.publish.place import Place
from pjrtwheel.publish.places import open_place
from release_folders import send, write_pure_release
from small_wheels import build_wheel

TAG = "v1.2.3+split.1"
WHEEL = "jaxlib_abacus-1.2.3+split.1-py3-none-any.whl"
PROJECTS = ("jaxlib", "jaxlib-abacus")
DESTINATION = Destination(Kind.FOLDER, "folder", "a folder")


def open_at(folder: Path, tag: str = TAG) -> Place:
    """Return the place of a release."""
    return open_place(DESTINATION, argparse.Namespace(site=str(folder)), {}, tag)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a folder that is not there yet."""
    return tmp_path / "site"


def read_page(site: Path, project: str = "jaxlib-abacus") -> list[dict[str, object]]:
    """Return the files that the index has of a project."""
    files: list[dict[str, object]] = json.loads((site / f"simple/{project}/index.v1+json").read_text())["files"]
    return files


def snapshot(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_release_appears_as_a_whole(release: ReleaseFolder, site: Path) -> None:
    """Until the end neither files nor pages are there; then pages link to the files, METADATA next to them."""
    place = open_at(site)
    assert place.list_files(PROJECTS) == {}
    send(place, release, stop_after=5)
    assert sorted(path.name for path in site.iterdir()) == [".uploads"]
    send(open_at(site), release)  # another run goes on
    assert sorted(path.name for path in site.iterdir()) == ["files", "simple"]  # nothing else is served
    known = {**release.digests, "SHA256SUMS": hash_file(release.path / "SHA256SUMS")}
    assert {name: file.sha256 for name, file in open_at(site).list_files(PROJECTS).items()} == known
    assert {file.yanked for file in open_at(site).list_files(PROJECTS).values()} == {None}
    assert set(open_at(site).list_files([])) == {*release.wheels, *release.documents}  # nothing of others is there
    (entry,) = read_page(site)
    assert entry["url"] == f"../../files/{quote(TAG)}/{quote(WHEEL)}"
    metadata = site / "files" / TAG / f"{WHEEL}.metadata"
    assert entry["core-metadata"] == {"sha256": hash_file(metadata)}
    assert (site / "simple/jaxlib-abacus" / f"../../files/{TAG}/{WHEEL}").is_file()
    assert read_release_folder(site / "files" / TAG) == replace(release, path=site / "files" / TAG)


def test_a_second_run_changes_nothing(release: ReleaseFolder, site: Path) -> None:
    """The bytes of everything stay."""
    send(open_at(site), release)
    before = snapshot(site)
    send(open_at(site), release)
    assert snapshot(site) == before


def test_other_releases_stay_listed(release: ReleaseFolder, site: Path, tmp_path: Path) -> None:
    """One index of all."""
    send(open_at(site), release)
    send(open_at(site, "v1.2.4"), write_pure_release(tmp_path / "v1.2.4", version="1.2.4"))
    assert [entry["filename"] for entry in read_page(site)] == [WHEEL, WHEEL.replace("1.2.3+split.1", "1.2.4")]
    assert set(open_at(site).list_files(PROJECTS)) == {*release.wheels, *release.documents}


def test_a_published_release_does_not_change(release: ReleaseFolder, site: Path, tmp_path: Path) -> None:
    """Neither other bytes nor another file; nor does what waits to be published."""
    other = build_wheel(tmp_path, {"x.py": b""}, name=WHEEL)
    send(open_at(site), release, stop_after=5)
    with pytest.raises(PublishError, match="has another jaxlib_abacus"):
        open_at(site).upload(other, hash_file(other))
    send(open_at(site), release)
    before = snapshot(site)
    more = build_wheel(tmp_path, {}, name="jaxlib_bead-1.0-py3-none-any.whl")
    for file, message in ((other, "has another jaxlib_abacus"), (more, "has no jaxlib_bead")):
        with pytest.raises(PublishError, match=message):
            open_at(site).upload(file, hash_file(file))
    assert snapshot(site) == before


@pytest.mark.parametrize("name", [".left.partial", "folder"])
def test_what_is_no_file_of_a_release_is_not_published(release: ReleaseFolder, site: Path, name: str) -> None:
    """It is not listed, and would move with the others."""
    send(open_at(site), release, stop_after=5)
    (site / ".uploads" / TAG / name).mkdir()
    with pytest.raises(PublishError, match=re.escape(f"{name} is no file of a release")):
        send(open_at(site), release)
    assert not (site / "simple").exists()


def test_what_another_run_is_sending_stays(release: ReleaseFolder, site: Path, tmp_path: Path) -> None:
    """It waits in the same folder."""
    other = write_pure_release(tmp_path / "v1.2.4", version="1.2.4")
    send(open_at(site, "v1.2.4"), other, stop_after=2)
    send(open_at(site), release)
    assert [path.name for path in (site / ".uploads").iterdir()] == ["v1.2.4"]
    send(open_at(site, "v1.2.4"), other)
    assert not (site / ".uploads").exists()


def test_a_disk_that_is_full_is_called_that(
    release: ReleaseFolder, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the file that was being written, not the folder of the cache."""

    def fail(*_: object) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(static_folder, "copy_atomically", fail)
    with pytest.raises(PublishError) as caught:
        send(open_at(site), release)
    assert caught.value.cause == f"the disk is full: {site / '.uploads' / TAG / release.documents[0]}"
    assert caught.value.remedy == "free some space there"


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
    build_wheel(other.path, {"x.py": b""}, name=WHEEL)
    text = (other.path / "release.json").read_text()
    (other.path / "release.json").write_text(text.replace(other.digests[WHEEL], hash_file(other.path / WHEEL)))
    place = open_at(site, "v1.2.3+2")
    with pytest.raises(WheelError, match="has two files of the name"):
        send(place, other)
    assert snapshot(site / "simple") == before
    assert [path.name for path in (site / "files").iterdir()] == [TAG]


@pytest.mark.parametrize("page", ["jaxlib-abacus/index.html", "jaxlib-abacus/index.v1+json", "index.html"])
def test_a_page_that_was_edited_by_hand_is_refused(release: ReleaseFolder, site: Path, page: str) -> None:
    """The message names the page, and says how to get a right one."""
    send(open_at(site), release)
    good = snapshot(site / "simple")
    path = site / "simple" / page
    path.write_text(path.read_text().replace("abacus", "abacuz"))
    with pytest.raises(PublishError, match=f"{re.escape(path.name)} is not what follows"):
        open_at(site).list_files(PROJECTS)
    (site / "simple").rename(site / "away")
    send(open_at(site), release)
    assert snapshot(site / "simple") == good


def test_pages_for_people_may_be_those_of_another_version(release: ReleaseFolder, site: Path) -> None:
    """What they say does not follow from the files alone; the next time that anything is sent they are written anew."""
    send(open_at(site), release)
    good = snapshot(site / "simple")
    (site / "simple/about.html").write_text("of an older version")
    (site / "simple/about_files/older.html").write_text("of an older version")
    assert open_at(site).list_files(PROJECTS)
    send(open_at(site), release)
    assert snapshot(site / "simple") == good


def test_pages_that_nobody_wrote_are_refused(release: ReleaseFolder, site: Path) -> None:
    """Also a project that is in no release, or a page that is gone."""
    send(open_at(site), release)
    (site / "simple/evil").mkdir()
    (site / "simple/evil/index.html").write_text("")
    with pytest.raises(PublishError, match=r"evil/index\.html is not what follows"):
        open_at(site).list_files(PROJECTS)
    (site / "simple/evil/index.html").unlink()
    (site / "simple/jaxlib/index.html").unlink()
    with pytest.raises(PublishError, match=r"jaxlib/index\.html is not what follows"):
        open_at(site).list_files(PROJECTS)


def test_a_published_wheel_that_was_altered_is_found(release: ReleaseFolder, site: Path) -> None:
    """Reading back compares bytes with release.json."""
    send(open_at(site), release)
    (site / "files" / TAG / WHEEL).write_bytes(b"other")
    with pytest.raises(PublishError, match=r"has sha256 .* release.json says") as caught:
        open_at(site).list_files(PROJECTS)
    assert caught.value.remedy == f"put the release that was published back into {site / 'files' / TAG}, or remove it"


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
    assert set(open_at(site).list_files(PROJECTS)) == {*release.wheels, *release.documents}
    send(open_at(site), release)
    assert len(read_page(site)) == 2


def raise_interrupt(*_: object) -> None:
    """Stop as an interrupted run does."""
    raise KeyboardInterrupt


def test_withdrawn_wheels_say_why(release: ReleaseFolder, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the pages and when read back; a second reason takes the place of the first; the decisions are in one file."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    send(open_at(site), release)
    for reason in ("crashes", "loses digits"):
        place = open_at(site)
        place.yank([WHEEL], reason)
        assert place.list_files(PROJECTS)[WHEEL].yanked == reason
        assert read_page(site)[0]["yanked"] == reason
    assert open_at(site).list_files(PROJECTS)[next(name for name in release.wheels if name != WHEEL)].yanked is None
    assert (site / "yanked.toml").read_text() == (
        f'[[yanked]]\nreason = "loses digits"\ndate = "1970-01-01"\nwheel = "{WHEEL}"\n'
    )
    send(open_at(site), release)
    assert read_page(site)[0]["yanked"] == "loses digits"
    with pytest.raises(UsageError, match="needs a reason of one line"):
        open_at(site).yank([WHEEL], "two\nlines")


def test_files_come_back_as_they_were_sent(release: ReleaseFolder, site: Path, tmp_path: Path) -> None:
    """Before and after the release is whole."""
    place = open_at(site)
    send(place, release, stop_after=5)
    for _ in range(2):
        place.download(place.list_files(PROJECTS)[WHEEL], tmp_path / "back.whl")
        assert hash_file(tmp_path / "back.whl") == release.digests[WHEEL]
        send(place, release)


@pytest.mark.parametrize(("settings", "tag"), [({}, TAG), ({"site": "f"}, "../v1"), ({"site": "f"}, "")])
def test_a_place_needs_a_folder_and_a_tag(settings: dict[str, str], tag: str) -> None:
    """A tag that leads out of the folder is refused."""
    with pytest.raises(UsageError):
        open_place(DESTINATION, argparse.Namespace(**settings), {}, tag)


def test_nothing_is_finished_that_was_not_sent(site: Path) -> None:
    """A release without files is none."""
    with pytest.raises(PublishError, match="nothing of"):
        open_at(site).finish()
