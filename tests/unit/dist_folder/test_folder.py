# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Finished wheels: put into `dist/`, whole or not at all, by runs that may be killed or run at the same time."""

import hashlib
import multiprocessing
import os
import time
from pathlib import Path

import pytest

from pjrtwheel.dist_folder.folder import add_proofs, add_wheels
from pjrtwheel.errors import WheelError
from pjrtwheel.files import hash_file
from pjrtwheel.record.entries import read_entries
from pjrtwheel.record.proofs import Level
from proven_wheels import ORIGIN, RAN, make_proof, make_wheel


def publish_one(folder: str, dist: str, name: str) -> None:
    """Publish one wheel; the work of one process."""
    wheel, proof = make_wheel(Path(folder), name, name.encode() * 100_000)
    add_wheels([wheel], [{wheel.report.filename: proof}], ORIGIN, Path(dist))


def test_a_second_build_replaces_its_own_entry_and_keeps_others(tmp_path: Path) -> None:
    """Entries are merged by file name."""
    dist = tmp_path / "dist"
    published = []
    for name, content in (("jaxlib_a", b"1"), ("jaxlib_b", b"1"), ("jaxlib_a", b"2")):
        wheel, proof = make_wheel(tmp_path, name, content)
        published.append(add_wheels([wheel], [{wheel.report.filename: proof}], ORIGIN, dist))
    assert [(entry.distribution, entry.sha256) for entry in published[-1]] == [
        ("jaxlib-a", hashlib.sha256(b"2").hexdigest()),
        ("jaxlib-b", hashlib.sha256(b"1").hexdigest()),
    ]


def test_a_wheel_of_another_set_under_the_same_name_is_refused(tmp_path: Path) -> None:
    """Installers could not tell the two apart; the folder stays as it is."""
    dist = tmp_path / "dist"
    first, proof = make_wheel(tmp_path, "jaxlib_a", b"1")
    kept = add_wheels([first], [{first.report.filename: proof}], ORIGIN, dist)
    (tmp_path / "other").mkdir()
    other, proof = make_wheel(tmp_path / "other", "jaxlib_a", b"2", lock="00")
    with pytest.raises(WheelError, match=first.report.filename):
        add_wheels([other], [{first.report.filename: proof}], ORIGIN, dist)
    assert (dist / first.report.filename).read_bytes() == b"1"
    assert tuple(read_entries(dist).values()) == kept


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    """Eight processes write into one folder; every wheel and every entry is there."""
    names = [f"jaxlib_{letter}" for letter in "abcdefgh"]
    context = multiprocessing.get_context("fork")
    writers = [
        context.Process(target=publish_one, args=(str(tmp_path), str(tmp_path / "dist"), name)) for name in names
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * len(names)
    entries = read_entries(tmp_path / "dist")
    wheels = {path.name: hash_file(path) for path in (tmp_path / "dist").glob("*.whl")}
    assert {name: entry.sha256 for name, entry in entries.items()} == wheels
    assert len(wheels) == len(names)
    assert list((tmp_path / "dist").glob(".partial-*")) == []


def wait_for(folder: Path, pattern: str) -> Path:
    """Return the file that another process makes, which it does within seconds or not at all."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for found in folder.glob(pattern):
            return found
        time.sleep(0.01)
    raise AssertionError(f"nothing like {pattern} in {folder}")


def test_a_killed_run_leaves_nothing_partial(tmp_path: Path) -> None:
    """A process killed while it copies leaves no file in the folder, and the next run clears what it left aside."""
    wheel, proof = make_wheel(tmp_path, "jaxlib_cpu", b"x" * 100_000)
    content = wheel.path.read_bytes()
    wheel.path.unlink()
    os.mkfifo(wheel.path)  # a source that never ends keeps the copy half done
    dist = tmp_path / "dist"
    writer = multiprocessing.get_context("fork").Process(
        target=add_wheels, args=([wheel], [{wheel.report.filename: proof}], ORIGIN, dist)
    )
    writer.start()
    # Open for reading too: opening does not wait for a writer that may have failed.
    with open(os.open(wheel.path, os.O_RDWR), "wb") as source:  # noqa: PTH123 - a descriptor has no path
        source.write(content[:60_000])
        source.flush()
        partial = wait_for(dist, ".partial-*/.*.partial").parent
        writer.kill()
        writer.join()
    assert (writer.exitcode, list(dist.iterdir())) == (-9, [partial])
    wheel.path.unlink()
    wheel.path.write_bytes(content)
    add_wheels([wheel], [{wheel.report.filename: proof}], ORIGIN, dist)
    assert sorted(path.name for path in dist.iterdir()) == [wheel.report.filename, "release.json"]
    assert not partial.exists()


def test_a_wheel_is_linked_from_where_it_was_built(tmp_path: Path) -> None:
    """There is one copy of its bytes, also where it is put again or into another folder; users can remove it."""
    wheel, proof = make_wheel(tmp_path, "jaxlib_cpu")
    wheel.path.chmod(0o555)  # as Bazel leaves its outputs
    places = [tmp_path / "dist", tmp_path / "other"]
    for place in (*places, places[0]):
        add_wheels([wheel], [{wheel.report.filename: proof}], ORIGIN, place)
    published = [(place / wheel.report.filename).stat() for place in places]
    assert {(stat.st_ino, stat.st_mode & 0o777) for stat in published} == {(wheel.path.stat().st_ino, 0o644)}


def test_a_wheel_that_changed_is_not_published(tmp_path: Path) -> None:
    """What is published is what was verified."""
    wheel, proof = make_wheel(tmp_path, "jaxlib_cpu")
    wheel.path.write_bytes(b"other")
    with pytest.raises(WheelError):
        add_wheels([wheel], [{wheel.report.filename: proof}], ORIGIN, tmp_path / "dist")
    assert list((tmp_path / "dist").iterdir()) == []


def test_a_folder_without_a_record_stays_without(tmp_path: Path) -> None:
    """Wheels that were carried to another machine alone can be proven there all the same."""
    (tmp_path / "a.whl").touch()
    assert add_proofs({"a.whl": make_proof(Level.DEVICE, RAN)}, {"a.whl": "00"}, tmp_path) == ("a.whl",)
    assert [path.name for path in tmp_path.iterdir()] == ["a.whl"]


def test_stale_folders_that_cannot_be_opened_stop_nothing(tmp_path: Path) -> None:
    """What another user's run left is not ours to remove; a link that leads nowhere is the example here."""
    dist = tmp_path / "dist"
    dist.mkdir()
    (dist / ".partial-loop").symlink_to(".partial-loop")
    wheel, proof = make_wheel(tmp_path, "jaxlib_cpu")
    assert len(add_wheels([wheel], [{wheel.report.filename: proof}], ORIGIN, dist)) == 1
