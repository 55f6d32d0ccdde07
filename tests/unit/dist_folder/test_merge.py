# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Folders of finished wheels: merged into one."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel import cli
from pjrtwheel.dist_folder.merge import merge_folders, read_folder
from pjrtwheel.errors import UsageError, WheelError
from pjrtwheel.record.entries import Entry, format_entries
from pjrtwheel.record.origin import Origin
from pjrtwheel.record.proofs import Level, Proof
from release_entries import entry_of

ORIGIN = Origin(None, None, "0.1.0", "2026-11-21T09:40:00Z")
BINDINGS = "jaxlib-1.0-1-cp312-cp312-manylinux_2_27_{}.whl"
CPU = "jaxlib_cpu-1.0-cp312-abi3-manylinux_2_27_{}.whl"
CUDA = "jaxlib_cuda_12-1.0-cp312-abi3-manylinux_2_27_{}.whl"


def make_folder(
    folder: Path, *names: str, level: str = "static", backend: str | None = None, content: bytes = b"zip"
) -> Path:
    """Write a folder as a build leaves it: files in place of wheels, and `release.json`."""
    folder.mkdir()
    entries: dict[str, Entry] = {}
    for name in names:
        (folder / name).write_bytes(content)
        entries[name] = entry_of(
            name,
            sha256=hashlib.sha256(content).hexdigest(),
            size=len(content),
            lock_id="ff",
            proof=Proof(Level(level), None, (), ORIGIN, backend=backend),
        )
    (folder / "release.json").write_text(format_entries(entries), "utf-8")
    return folder


def levels(dist: Path) -> dict[str, Any]:
    """Return name → backend and level of every proof, as `release.json` has them."""
    return {
        name: [(proof.backend, proof.level) for proof in entry.proofs()] for name, entry in read_folder(dist).items()
    }


def test_merging_keeps_every_wheel_and_the_proof_with_each_backend(tmp_path: Path) -> None:
    """Bindings that several builds made are one wheel, whichever folder comes first; the strongest proof leads."""
    bindings, cpu, cuda = (name.format("x86_64") for name in (BINDINGS, CPU, CUDA))
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
    name = BINDINGS.format("x86_64")
    folders = [make_folder(tmp_path / letter, name, content=letter.encode()) for letter in "ab"]
    with pytest.raises(WheelError) as caught:
        merge_folders(folders, tmp_path / "dist")
    assert name in caught.value.what
    assert not (tmp_path / "dist").exists()


@pytest.mark.parametrize("recorded", [True, False])
def test_other_bytes_in_the_target_are_refused(tmp_path: Path, *, recorded: bool) -> None:
    """What is there stays, whether `release.json` lists it or not; the same bytes are no obstacle."""
    name = BINDINGS.format("x86_64")
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
    cpu, cuda = CPU.format("x86_64"), CUDA.format("x86_64")
    folders = [make_folder(tmp_path / "a", cpu, plain, variant), make_folder(tmp_path / "b", cuda)]
    dist = tmp_path / "dist"
    merge_folders(folders, dist)
    assert sorted(path.name for path in dist.iterdir()) == sorted([cpu, cuda, "release.json"])
    assert f"jaxlib-auto 1.0 of {tmp_path / 'a'}" in capsys.readouterr().err


@pytest.mark.parametrize("order", ["a", "ab", "ba"])
def test_a_damaged_wheel_is_not_merged(tmp_path: Path, order: str) -> None:
    """What was changed on its way between machines is noticed by its digest, also where another folder has it whole."""
    name = CPU.format("x86_64")
    damaged, _ = make_folder(tmp_path / "a", name), make_folder(tmp_path / "b", name)
    (damaged / name).write_bytes(b"zap")
    with pytest.raises(WheelError) as caught:
        merge_folders([tmp_path / letter for letter in order], tmp_path / "dist")
    assert str(damaged / name) in caught.value.what
    assert not (tmp_path / "dist").exists()


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    """The folder, or the record in it."""
    (tmp_path / "empty").mkdir()
    for name in ("none", "empty"):
        with pytest.raises(UsageError, match=name):
            merge_folders([tmp_path / name], tmp_path / "dist")


@pytest.mark.parametrize("names", [(), (CPU.format("x86_64"),)])
def test_a_record_that_does_not_fit_is_refused(tmp_path: Path, names: tuple[str, ...]) -> None:
    """A folder without wheels, or with a wheel more than its record has, is not as a build left it."""
    folder = make_folder(tmp_path / "a", *names)
    if names:
        (folder / CUDA.format("x86_64")).write_bytes(b"unlisted")
    with pytest.raises(WheelError):
        read_folder(folder)


def test_a_file_where_the_folder_should_be_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In words, and before anything is copied."""
    make_folder(tmp_path / "a", CPU.format("x86_64"))
    (tmp_path / "file").write_text("kept", "utf-8")
    for target in ("file", "file/below"):
        assert cli.main(["merge", str(tmp_path / "a"), "--dist", str(tmp_path / target)]) == UsageError.exit_code
        assert str(tmp_path / target) in capsys.readouterr().err
    assert (tmp_path / "file").read_text("utf-8") == "kept"


def test_the_command_merges(tmp_path: Path) -> None:
    """`merge` takes folders and one target, and fails as every command does."""
    folders = [make_folder(tmp_path / "a", CPU.format("x86_64")), make_folder(tmp_path / "b", CUDA.format("x86_64"))]
    dist = tmp_path / "dist"
    assert cli.main(["merge", *map(str, folders), "--dist", str(dist)]) == 0
    assert [entry["filename"] for entry in json.loads((dist / "release.json").read_text())["wheels"]] == [
        CPU.format("x86_64"),
        CUDA.format("x86_64"),
    ]
    assert cli.main(["merge", str(tmp_path / "none"), "--dist", str(dist)]) == UsageError.exit_code
