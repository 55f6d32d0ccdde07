# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Filling a bundle: what is in it, what a second run does, what it leaves alone. Of tools alone, which are small."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from package_index import make_index
from pjrtwheel.bundle import make
from pjrtwheel.bundle.check import list_problems
from pjrtwheel.bundle.make import BundleRequest, make_bundle, summarize
from pjrtwheel.bundle.manifest import Kind, Manifest, read_manifest
from pjrtwheel.bundle.resolve import Resolved
from pjrtwheel.bundle.resolve import download as fetch
from pjrtwheel.environment.interpreters import probe
from pjrtwheel.errors import FetchError, UsageError
from pjrtwheel.fetch.cache import WheelCache
from pjrtwheel.fetch.index import download_wheel
from pjrtwheel.files import hash_file
from pjrtwheel.platforms import host_platform
from small_wheels import build_wheel, describe_wheel

A, B = "a_tool-1.0-py3-none-any.whl", "b_tool-2.0-py3-none-any.whl"


def git(root: Path, *arguments: str) -> str:
    """Run git as somebody."""
    who = ("-c", "user.name=somebody", "-c", "user.email=s@example.org", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", *who, "-C", root, *arguments], check=True, capture_output=True, text=True).stdout


def lock(root: Path, *wheels: Path) -> None:
    """Write and commit the lock of a dependency group."""
    lines = [f"{path.name.split('-')[0].replace('_', '-')}=={path.name.split('-')[1]}" for path in wheels]
    hashes = [f" \\\n    --hash=sha256:{hash_file(path)}\n" for path in wheels]
    (root / "build/locks").mkdir(parents=True, exist_ok=True)
    (root / "build/locks/tests.txt").write_text("".join(map("".join, zip(lines, hashes, strict=True))))
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "Lock")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the machine's package index, which has two tools."""
    folder = make_index(tmp_path / "index", monkeypatch)
    for name in (A, B):
        build_wheel(folder, describe_wheel(name), name=name)
    return folder


@pytest.fixture
def request_(tmp_path: Path, index: Path) -> BundleRequest:
    """Return a request for a repository whose lock has both."""
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "--quiet")
    lock(root, index / A, index / B)
    python = probe(Path(sys.executable))
    assert python is not None
    return BundleRequest(root, (), host_platform(), (python,), ())


@pytest.fixture
def cache(tmp_path: Path) -> WheelCache:
    """Return an empty cache."""
    return WheelCache(tmp_path / "cache", download_wheel)


def wheels_of(manifest: Manifest) -> list[str]:
    """Return the names of the wheels in a manifest."""
    return [file.path.removeprefix("wheels/") for file in manifest.files if file.kind is Kind.TOOL]


def test_bundle_has_everything_that_it_lists(
    request_: BundleRequest, cache: WheelCache, index: Path, tmp_path: Path
) -> None:
    """Tools by hash, their pages, and the repository, which can be cloned."""
    folder = tmp_path / "made/bundle"
    manifest = make_bundle(request_, folder, cache)
    assert read_manifest(folder) == manifest
    assert list_problems(folder, manifest.files) == []
    assert wheels_of(manifest) == [A, B]
    assert hash_file(folder / "wheels" / A) == hash_file(index / A)
    lying = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert lying == {file.path for file in manifest.files} | {"bundle.json"}
    subprocess.run(["git", "clone", "--quiet", folder / "repository.bundle", tmp_path / "clone"], check=True)
    assert git(tmp_path / "clone", "rev-parse", "HEAD").strip() == manifest.commit
    assert summarize(manifest)[1] == "  tools            2 files      0.0 MB"


def test_finished_bundle_downloads_nothing(
    request_: BundleRequest, cache: WheelCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second run only asks what there is."""
    folder = tmp_path / "bundle"
    before = make_bundle(request_, folder, cache)
    asked: list[Resolved] = []

    def note(_python: Path, wanted: Iterable[Resolved], _scratch: Path) -> Iterable[tuple[Path, ...]]:
        asked.extend(wanted)
        return ()

    monkeypatch.setattr(make, "download", note)
    after = make_bundle(request_, folder, cache)
    assert asked == []
    assert after == before


def test_interrupted_run_is_finished_by_the_next(
    request_: BundleRequest, cache: WheelCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fetches what is missing or was damaged, and nothing else; until then there is no bundle."""
    folder = tmp_path / "bundle"

    def die(python: Path, wanted: Iterable[Resolved], scratch: Path) -> Iterable[tuple[Path, ...]]:
        yield from fetch(python, list(wanted)[:1], scratch)
        raise KeyboardInterrupt

    monkeypatch.setattr(make, "download", die)
    with pytest.raises(KeyboardInterrupt):
        make_bundle(request_, folder, cache)
    with pytest.raises(FetchError, match="no bundle"):
        read_manifest(folder)
    (kept,) = (folder / "wheels").iterdir()
    asked: list[str] = []

    def note(python: Path, wanted: Iterable[Resolved], scratch: Path) -> Iterable[tuple[Path, ...]]:
        listed = list(wanted)
        asked.extend(entry.filename for entry in listed)
        return fetch(python, listed, scratch)

    monkeypatch.setattr(make, "download", note)
    manifest = make_bundle(request_, folder, cache)
    assert asked == [name for name in (A, B) if name != kept.name]
    kept.write_bytes(b"rubbish")
    asked.clear()
    assert make_bundle(request_, folder, cache) is not manifest
    assert asked == [kept.name]
    assert list_problems(folder, read_manifest(folder).files) == []
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_what_is_no_longer_needed_is_removed(
    request_: BundleRequest, cache: WheelCache, index: Path, tmp_path: Path
) -> None:
    """A bundle has what was asked for last, and its pages name nothing else."""
    folder = tmp_path / "bundle"
    make_bundle(request_, folder, cache)
    lock(request_.root, index / B)
    assert wheels_of(make_bundle(request_, folder, cache)) == [B]
    assert [path.name for path in (folder / "wheels").iterdir()] == [B]
    assert sorted(path.name for path in (folder / "simple").iterdir()) == ["b-tool", "index.html"]


@pytest.mark.parametrize("name", ["wheels", "simple"])
def test_a_folder_with_the_names_of_a_bundle_is_left_alone(
    request_: BundleRequest, cache: WheelCache, tmp_path: Path, name: str
) -> None:
    """What is in it is somebody's, also where a bundle has a link to it."""
    mine = tmp_path / "mine" / name
    mine.mkdir(parents=True)
    (mine / "thesis.txt").touch()
    (mine.parent / ".partial-of-a-killed-run").mkdir()
    with pytest.raises(UsageError) as caught:
        make_bundle(request_, mine.parent, cache)
    assert caught.value.cause == f"it has {name}"
    folder = tmp_path / "bundle"
    make_bundle(request_, folder, cache)
    (folder / name).rename(folder / "other")
    (folder / name).symlink_to(mine)
    with pytest.raises(UsageError) as caught:
        make_bundle(request_, folder, cache)
    assert caught.value.cause == f"its {name} is a link to another folder"
    assert (mine / "thesis.txt").exists()


def test_a_shallow_clone_is_refused(request_: BundleRequest, cache: WheelCache, tmp_path: Path) -> None:
    """Nothing could be cloned from its bundle."""
    git(request_.root, "commit", "--quiet", "--allow-empty", "--message", "More")
    git(tmp_path, "clone", "--quiet", "--depth=1", request_.root.as_uri(), "shallow")
    with pytest.raises(UsageError) as caught:
        make_bundle(replace(request_, root=tmp_path / "shallow"), tmp_path / "bundle", cache)
    assert caught.value.remedy == "git fetch --unshallow"


def test_other_bytes_than_the_lock_has_are_refused(
    request_: BundleRequest, cache: WheelCache, index: Path, tmp_path: Path
) -> None:
    """Whatever the index offers under that name and version."""
    build_wheel(index, {**describe_wheel(A), "a_tool.py": b"evil"}, name=A)
    with pytest.raises(FetchError, match=f"not the file that is locked: {A}"):
        make_bundle(request_, tmp_path / "bundle", cache)


def test_uncommitted_changes_are_refused(request_: BundleRequest, cache: WheelCache, tmp_path: Path) -> None:
    """They would be missing on the other machine; files that git does not know are not looked at."""
    (request_.root / "new").touch()
    make_bundle(request_, tmp_path / "bundle", cache)
    (request_.root / "build/locks/tests.txt").write_text("")
    with pytest.raises(UsageError, match="changes that are not committed"):
        make_bundle(request_, tmp_path / "bundle", cache)


@pytest.mark.parametrize("name", ["letter.txt", "dist"])
def test_folder_of_something_else_is_left_alone(
    request_: BundleRequest, cache: WheelCache, tmp_path: Path, name: str
) -> None:
    """It might be removed as not needed."""
    folder = tmp_path / "mine"
    (folder / name).mkdir(parents=True)
    with pytest.raises(UsageError, match="not a folder for a bundle") as caught:
        make_bundle(request_, folder, cache)
    assert caught.value.cause == f"it has {name}"
    assert [path.name for path in folder.iterdir()] == [name]
