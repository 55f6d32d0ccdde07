# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Folders of finished wheels: merged into one, but not those of two sets under one version."""

import json
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel import cli
from pjrtwheel.dist_folder.folder import merge_folders, read_folder
from pjrtwheel.errors import UsageError, WheelError
from pjrtwheel.products.index import write_index
from pjrtwheel.record.entries import Entry, format_entries, mixed_locks
from pjrtwheel.record.origin import Origin
from pjrtwheel.record.proofs import Level, Proof
from release_entries import entry_at, entry_of
from small_wheels import build_wheel, describe_wheel

ORIGIN = Origin(None, None, "0.1.0", "2026-11-21T09:40:00Z")
JAXLIB = "jaxlib-1.0-1-cp312-cp312-manylinux_2_27_x86_64.whl"
PLUGIN = "jaxlib_cpu-1.0-cp312-abi3-manylinux_2_27_x86_64.whl"
OTHER = "jaxlib_cuda_12-1.0-cp312-abi3-manylinux_2_27_x86_64.whl"


def make_folder(
    folder: Path,
    *names: str,
    level: str = "static",
    backend: str | None = None,
    content: bytes = b"zip",
    lock_id: str = "ff",
) -> Path:
    """Write a folder as a build leaves it: files in place of wheels, and `release.json`."""
    folder.mkdir()
    entries: dict[str, Entry] = {}
    for name in names:
        (folder / name).write_bytes(content)
        proof = Proof(Level(level), None, (), ORIGIN, backend=backend)
        entries[name] = entry_at(folder / name, lock_id=lock_id, proof=proof)
    (folder / "release.json").write_text(format_entries(entries), "utf-8")
    return folder


def levels(dist: Path) -> dict[str, Any]:
    """Return name → backend and level of every proof, as `release.json` has them."""
    return {
        name: [(proof.backend, proof.level) for proof in entry.proofs()] for name, entry in read_folder(dist).items()
    }


def test_merging_keeps_every_wheel_and_the_proof_with_each_backend(tmp_path: Path) -> None:
    """Bindings that several builds made are one wheel, whichever folder comes first; the strongest proof leads."""
    bindings, cpu, cuda = JAXLIB, PLUGIN, OTHER
    proven = make_folder(tmp_path / "a", bindings, cpu, level="device", backend="cpu")
    other = make_folder(tmp_path / "b", bindings, cuda, level="aot", backend="cuda12")
    by_cpu, by_cuda = ("cpu", "device"), ("cuda12", "aot")
    expected = {bindings: [by_cpu, by_cuda], cpu: [by_cpu], cuda: [by_cuda]}
    for number, folders in enumerate(([proven, other], [other, proven])):
        dist = tmp_path / f"dist{number}"
        merged = merge_folders(folders, dist)
        assert levels(dist) == expected
        assert [entry.filename for entry in merged] == sorted(expected)
        assert sorted(path.name for path in dist.iterdir()) == sorted([*expected, "release.json"])


def test_other_bytes_of_one_name_are_refused(tmp_path: Path) -> None:
    """Builds of different sources are not mixed, and nothing is written."""
    name = JAXLIB
    folders = [make_folder(tmp_path / letter, name, content=letter.encode()) for letter in "ab"]
    with pytest.raises(WheelError) as caught:
        merge_folders(folders, tmp_path / "dist")
    assert name in caught.value.what
    assert not (tmp_path / "dist").exists()


@pytest.mark.parametrize("recorded", [True, False])
def test_other_bytes_in_the_target_are_refused(tmp_path: Path, *, recorded: bool) -> None:
    """What is there stays, whether `release.json` lists it or not; the same bytes are no obstacle."""
    name = JAXLIB
    folder = make_folder(tmp_path / "a", name, content=b"new")
    dist = make_folder(tmp_path / "dist", name, content=b"old")
    if not recorded:
        (dist / "release.json").unlink()
    before = {path.name: path.read_bytes() for path in dist.iterdir()}
    with pytest.raises(WheelError) as caught:
        merge_folders([folder], dist)
    assert name in caught.value.what
    assert {path.name: path.read_bytes() for path in dist.iterdir()} == before
    (dist / name).write_bytes(b"new")
    assert [entry.filename for entry in merge_folders([folder], dist)] == [name]


def test_variants_are_left_out_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the plain wheel of the same project: all of them fit the folder that they were made for, and no other."""
    plain = "jaxlib_auto-1.0-py3-none-any.whl"
    variant = "jaxlib_auto-1.0-py3-none-manylinux_2_27_x86_64-cuda12.whl"
    cpu, cuda = PLUGIN, OTHER
    folders = [make_folder(tmp_path / "a", cpu, plain, variant), make_folder(tmp_path / "b", cuda)]
    dist = tmp_path / "dist"
    merge_folders(folders, dist)
    assert sorted(path.name for path in dist.iterdir()) == sorted([cpu, cuda, "release.json"])
    assert f"jaxlib-auto 1.0 of {tmp_path / 'a'}" in capsys.readouterr().err


def test_a_damaged_wheel_is_not_merged(tmp_path: Path) -> None:
    """What was changed on its way between machines is noticed by its digest."""
    damaged = make_folder(tmp_path / "a", PLUGIN)
    (damaged / PLUGIN).write_bytes(b"zap")
    with pytest.raises(WheelError) as caught:
        merge_folders([damaged], tmp_path / "dist")
    assert str(damaged / PLUGIN) in caught.value.what
    assert list((tmp_path / "dist").iterdir()) == []


@pytest.mark.parametrize("names", [(), (PLUGIN,)])
def test_a_record_that_does_not_fit_is_refused(tmp_path: Path, names: tuple[str, ...]) -> None:
    """A folder without wheels, or with a wheel more than its record has, is not as a build left it."""
    folder = make_folder(tmp_path / "a", *names)
    if names:
        (folder / OTHER).write_bytes(b"unlisted")
    with pytest.raises(WheelError):
        read_folder(folder)


def test_a_file_where_the_folder_should_be_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In words, and before anything is copied."""
    make_folder(tmp_path / "a", PLUGIN)
    (tmp_path / "file").write_text("kept", "utf-8")
    for target in ("file", "file/below"):
        assert cli.main(["merge", str(tmp_path / "a"), "--dist", str(tmp_path / target)]) == UsageError.exit_code
        assert str(tmp_path / target) in capsys.readouterr().err
    assert (tmp_path / "file").read_text("utf-8") == "kept"


def test_the_command_merges(tmp_path: Path) -> None:
    """It takes folders and one target."""
    folders = [make_folder(tmp_path / "a", PLUGIN), make_folder(tmp_path / "b", OTHER)]
    dist = tmp_path / "dist"
    assert cli.main(["merge", *map(str, folders), "--dist", str(dist)]) == 0
    assert [entry["filename"] for entry in json.loads((dist / "release.json").read_text())["wheels"]] == [PLUGIN, OTHER]


def test_wheels_that_refuse_each_other_are_named() -> None:
    """A plugin with another lock than the bindings of its version and platform; without bindings, than the others."""
    jaxlib, good, bad = (entry_of(name, lock_id=lock) for name, lock in ((JAXLIB, "a"), (PLUGIN, "a"), (OTHER, "b")))
    others = [
        entry_of(PLUGIN.replace("1.0", "1.1"), lock_id="c"),
        entry_of(PLUGIN.replace("x86_64", "aarch64"), lock_id="d"),
    ]
    assert mixed_locks([bad, good, jaxlib, *others]) == (bad.filename,)
    assert mixed_locks([good, bad, *others]) == (bad.filename,)
    assert mixed_locks([jaxlib, good, *others]) == ()


def test_folders_of_two_sets_are_not_merged(tmp_path: Path) -> None:
    """Neither with each other nor with what is there; sets of different versions are."""
    first, second = make_folder(tmp_path / "a", JAXLIB), make_folder(tmp_path / "b", PLUGIN, lock_id="b")
    for folders, dist in (([first, second], tmp_path / "dist"), ([second], first)):
        before = sorted(filter(Path.is_file, tmp_path.rglob("*")))
        with pytest.raises(WheelError) as caught:
            merge_folders(folders, dist)
        assert (str(dist) in caught.value.what, PLUGIN in caught.value.what) == (True, True)
        assert sorted(filter(Path.is_file, tmp_path.rglob("*"))) == before
    other = make_folder(tmp_path / "c", PLUGIN.replace("1.0", "1.1"), lock_id="b")
    assert len(merge_folders([first, other], tmp_path / "dist")) == 2


def test_a_wheel_that_was_taken_out_refuses_nothing(tmp_path: Path) -> None:
    """It is what the refusal asks for; the record of the folder still names it."""
    dist = make_folder(tmp_path / "dist", JAXLIB)
    (dist / JAXLIB).unlink()
    merged = merge_folders([make_folder(tmp_path / "b", PLUGIN, lock_id="b")], dist)
    assert [entry.filename for entry in merged] == [PLUGIN]


def test_an_index_offers_no_pair_that_refuses_each_other(tmp_path: Path) -> None:
    """It would be installed, for the versions agree."""
    entries = {}
    for name, lock_id in {JAXLIB: "a", PLUGIN: "b"}.items():
        path = build_wheel(tmp_path, describe_wheel(name), name=name)
        entries[name] = entry_at(path, lock_id=lock_id)
    (tmp_path / "release.json").write_text(format_entries(entries), "utf-8")
    with pytest.raises(WheelError) as caught:
        write_index(tmp_path, tmp_path / "simple")
    assert PLUGIN in caught.value.what
    assert not (tmp_path / "simple").exists()
