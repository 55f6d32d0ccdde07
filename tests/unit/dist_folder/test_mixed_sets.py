# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Wheels of two sets under one version are found, and neither merged nor put into an index."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pjrtwheel import files
from pjrtwheel.dist_folder.merge import merge_folders
from pjrtwheel.errors import WheelError
from pjrtwheel.files import hash_file
from pjrtwheel.products.index import write_index
from pjrtwheel.record.entries import Entry, format_entries, mixed_locks
from pjrtwheel.record.origin import Origin
from pjrtwheel.record.proofs import Level, Proof
from small_wheels import build_wheel, describe_wheel

X86, ARM = "manylinux_2_27_x86_64", "manylinux_2_27_aarch64"
PROOF = Proof(Level.STATIC, None, (), Origin(None, None, "0.1.0", "2026-11-21T09:40:00Z"))


def make_entry(distribution: str, lock_id: str, version: str = "1.2+split.1", platform: str = X86) -> Entry:
    """Return the entry of a wheel of some set."""
    tag = f"cp312-abi3-{platform}"
    name = f"{distribution.replace('-', '_')}-{version}-{tag}.whl"
    return Entry(name, distribution, version, "00", 1, (tag,), lock_id, 0, (), PROOF, ())


def make_folder(folder: Path, *entries: Entry) -> Path:
    """Write a folder as a build leaves it, with small wheels."""
    folder.mkdir()
    paths = [build_wheel(folder, describe_wheel(entry.filename), name=entry.filename) for entry in entries]
    listed = {
        path.name: replace(entry, sha256=hash_file(path), size=path.stat().st_size)
        for entry, path in zip(entries, paths, strict=True)
    }
    (folder / "release.json").write_text(format_entries(listed), "utf-8")
    return folder


def test_wheels_that_refuse_each_other_are_named() -> None:
    """A plugin with another lock than the bindings of its version and platform; without bindings, than the others."""
    jaxlib, good, bad = make_entry("jaxlib", "a"), make_entry("jaxlib-cpu", "a"), make_entry("jaxlib-cuda-12", "b")
    others = [
        make_entry("jaxlib-cpu", "c", "1.1+split.1"),
        make_entry("jaxlib-cpu", "d", "1.2+split.2"),
        make_entry("jaxlib-cpu", "e", platform=ARM),
    ]
    assert mixed_locks([bad, good, jaxlib, *others]) == (bad.filename,)
    assert mixed_locks([good, bad, *others]) == (bad.filename,)
    assert mixed_locks([jaxlib, good, *others]) == ()


def test_folders_of_two_sets_are_not_merged(tmp_path: Path) -> None:
    """Neither with each other nor with what is there; sets of different versions are."""
    jaxlib, plugin = make_entry("jaxlib", "a"), make_entry("jaxlib-cpu", "b")
    first, second = make_folder(tmp_path / "a", jaxlib), make_folder(tmp_path / "b", plugin)
    for folders, dist in (([first, second], tmp_path / "dist"), ([second], first)):
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(WheelError) as caught:
            merge_folders(folders, dist)
        assert (str(dist) in caught.value.what, plugin.filename in caught.value.what) == (True, True)
        assert sorted(tmp_path.rglob("*")) == before
    other = make_folder(tmp_path / "c", make_entry("jaxlib-cpu", "b", "1.2+split.2"))
    assert len(merge_folders([first, other], tmp_path / "dist")) == 2


def test_a_wheel_that_was_taken_out_refuses_nothing(tmp_path: Path) -> None:
    """It is what the refusal asks for; the record of the folder still names it."""
    plugin = make_entry("jaxlib-cpu", "b")
    dist = make_folder(tmp_path / "dist", make_entry("jaxlib", "a"))
    (dist / make_entry("jaxlib", "a").filename).unlink()
    assert [entry.filename for entry in merge_folders([make_folder(tmp_path / "b", plugin)], dist)] == [plugin.filename]


def test_a_damaged_record_is_no_obstacle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A copy is kept, as a build does; entries of it that are whole count all the same."""
    dist, plugin = make_folder(tmp_path / "dist", make_entry("jaxlib", "a")), make_entry("jaxlib-cpu", "b")
    document = json.loads((dist / "release.json").read_text("utf-8"))
    (dist / "release.json").write_text(json.dumps({**document, "wheels": [*document["wheels"], {}]}), "utf-8")
    with pytest.raises(WheelError, match="would mix sets"):
        merge_folders([make_folder(tmp_path / "b", plugin)], dist)
    assert sorted(path.name for path in dist.iterdir()) == [make_entry("jaxlib", "a").filename, "release.json"]
    same = make_folder(tmp_path / "a", make_entry("jaxlib-cpu", "a"))
    assert len(merge_folders([same], dist)) == 2
    assert "a copy is kept as release.json.damaged-1" in capsys.readouterr().err


def test_sets_that_arrive_meanwhile_are_not_mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another run published between the first look and the lock."""
    folder, dist = make_folder(tmp_path / "b", make_entry("jaxlib-cpu", "b")), tmp_path / "dist"

    def publish_meanwhile(place: Path, _: int) -> None:
        other = make_folder(tmp_path / "other", make_entry("jaxlib", "a"))
        for path in other.iterdir():
            path.rename(place / path.name)

    monkeypatch.setattr(files, "require_space", publish_meanwhile)
    with pytest.raises(WheelError, match="would mix sets"):
        merge_folders([folder], dist)
    assert sorted(path.name for path in dist.iterdir()) == [make_entry("jaxlib", "a").filename, "release.json"]


def test_an_index_offers_no_pair_that_refuses_each_other(tmp_path: Path) -> None:
    """It would be installed, for the versions agree."""
    dist = make_folder(tmp_path / "dist", make_entry("jaxlib", "a"), make_entry("jaxlib-cpu", "b"))
    with pytest.raises(WheelError, match=rf"^an index of {dist} would mix sets: jaxlib_cpu-1\.2\+split\.1-"):
        write_index(dist, dist / "simple")
    assert not (dist / "simple").exists()
