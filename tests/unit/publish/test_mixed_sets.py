# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Wheels of two sets under one version are found, and neither merged nor put into an index."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pjrtwheel.errors import WheelError
from pjrtwheel.files import hash_file
from pjrtwheel.products.index import write_index
from pjrtwheel.prove.level import Level
from pjrtwheel.prove.origin import Origin
from pjrtwheel.prove.results import Proof
from pjrtwheel.publish.merge import merge_folders
from pjrtwheel.publish.mixed_sets import mixed_locks
from pjrtwheel.publish.release_file import Entry, format_entries

X86, ARM = "manylinux_2_27_x86_64", "manylinux_2_27_aarch64"
PROOF = Proof(Level.STATIC, None, (), Origin(None, None, "0.1.0", "2026-11-21T09:40:00Z"))


def make_entry(distribution: str, lock_id: str, version: str = "1.2+split.1", platform: str = X86) -> Entry:
    """Return the entry of a wheel of some set."""
    tag = f"cp312-abi3-{platform}"
    name = f"{distribution.replace('-', '_')}-{version}-{tag}.whl"
    return Entry(name, distribution, version, "00", 1, (tag,), lock_id, 0, (), PROOF, ())


def make_folder(folder: Path, *entries: Entry) -> Path:
    """Write a folder as a build leaves it, with something in place of the wheels."""
    folder.mkdir()
    for entry in entries:
        (folder / entry.filename).write_bytes(b"zip")
    digest = hash_file(folder / entries[0].filename)
    listed = {entry.filename: replace(entry, sha256=digest, size=3) for entry in entries}
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
        assert str(caught.value).splitlines() == [
            f"{dist} would mix sets: {plugin.filename}",
            "other wheels of the same version, such as jaxlib, have another lock",
            "build these again, or leave them out",
        ]
        assert sorted(tmp_path.rglob("*")) == before
    other = make_folder(tmp_path / "c", make_entry("jaxlib-cpu", "b", "1.2+split.2"))
    assert len(merge_folders([first, other], tmp_path / "dist")) == 2


def test_an_index_offers_no_pair_that_refuses_each_other(tmp_path: Path) -> None:
    """It would be installed, for the versions agree."""
    dist = make_folder(tmp_path / "dist", make_entry("jaxlib", "a"), make_entry("jaxlib-cpu", "b"))
    with pytest.raises(WheelError, match=rf"^an index of {dist} would mix sets: jaxlib_cpu-1\.2\+split\.1-"):
        write_index(dist, dist / "simple")
    assert not (dist / "simple").exists()
