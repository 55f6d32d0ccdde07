# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The folder of a release: what is in it, and what stops it from being written."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pjrtwheel.attest.checksums import SUMS_FILENAME
from pjrtwheel.attest.release_folder import read_release_folder
from pjrtwheel.attest.release_set import find_release_set
from pjrtwheel.attest.write import write_release_folder
from pjrtwheel.errors import AttestError, PjrtWheelError, UsageError
from pjrtwheel.files import hash_file
from pjrtwheel.record.entries import RELEASE_FILENAME, read_entries
from pjrtwheel.wheel.read.unpack import read_metadata
from sound_wheels import PLUGIN, TAG, make_dist, make_repository

WHEELS = [
    "jaxlib-1.2.3+split.1-cp312-cp312-manylinux_2_27_x86_64.whl",
    "jaxlib-1.2.3+split.1-cp313-cp313-manylinux_2_27_x86_64.whl",
    "jaxlib_auto-1.2.3+split.1-py3-none-any.whl",
    PLUGIN,
]
VARIANTS = "jaxlib_auto-1.2.3+split.1-variants.json"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with one release."""
    return make_repository(tmp_path / "repository")


@pytest.fixture
def dist(repository: Path, tmp_path: Path) -> Path:
    """Return a folder with the wheels of that release, and of the selector."""
    return make_dist(repository, tmp_path / "dist")


def test_a_release_has_the_wheels_of_its_tag_and_checksums_of_all_files(
    repository: Path, dist: Path, tmp_path: Path
) -> None:
    """The wheels are links, so that they take no room, and sha256sum agrees with what was written."""
    output = tmp_path / "out" / TAG
    found = find_release_set(repository, TAG, dist)
    release = write_release_folder(found, dist, output, {"note.txt": b"a document\n"})
    assert sorted(path.name for path in output.iterdir()) == sorted(
        [*WHEELS, VARIANTS, RELEASE_FILENAME, "note.txt", SUMS_FILENAME]
    )
    assert list(release.wheels) == WHEELS
    assert read_entries(output) == {name: read_entries(dist)[name] for name in WHEELS}
    assert all((output / name).samefile(dist / name) for name in [*WHEELS, VARIANTS])
    assert release.documents == (VARIANTS, "note.txt", RELEASE_FILENAME, SUMS_FILENAME)
    done = subprocess.run(["sha256sum", "-c", SUMS_FILENAME], cwd=output, capture_output=True, text=True, check=True)
    assert sorted(done.stdout.splitlines()) == sorted(
        f"{name}: OK" for name in [*WHEELS, VARIANTS, RELEASE_FILENAME, "note.txt"]
    )


def test_the_selector_is_a_release_of_its_own(repository: Path, dist: Path, tmp_path: Path) -> None:
    """It belongs to no JAX release."""
    found = find_release_set(repository, "select-v0.1.0", dist)
    release = write_release_folder(found, dist, tmp_path / "select", {})
    assert (list(release.wheels), release.documents) == (
        ["jaxlib_select-0.1.0-py3-none-any.whl"],
        (RELEASE_FILENAME, SUMS_FILENAME),
    )


@pytest.mark.parametrize(("build", "tag"), [(1, "v1.2.3"), (2, "v1.2.3+2")])
def test_a_set_without_a_label_has_its_number_in_the_tag_alone(tmp_path: Path, build: int, tag: str) -> None:
    """Its `jaxlib` has the number as build tag."""
    root = make_repository(tmp_path, label="", build=build)
    found = find_release_set(root, tag, make_dist(root, tmp_path / "dist"))
    assert found.entries[0].filename == f"jaxlib-1.2.3-{build}-cp312-cp312-manylinux_2_27_x86_64.whl"


def test_a_second_run_changes_nothing(repository: Path, dist: Path, tmp_path: Path) -> None:
    """The folder and its files stay the very same ones."""
    found, output = find_release_set(repository, TAG, dist), tmp_path / TAG
    write_release_folder(found, dist, output, {})

    def identify() -> dict[Path, tuple[int, int]]:  # links that come and go change a file's other times
        return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in (output, *output.iterdir())}

    before = identify()
    write_release_folder(found, dist, output, {})
    assert identify() == before


def test_a_release_is_replaced_whole(repository: Path, dist: Path, tmp_path: Path) -> None:
    """Nothing of the one before stays, and no staging folder either."""
    found, output = find_release_set(repository, TAG, dist), tmp_path / "out" / TAG
    write_release_folder(found, dist, output, {"old.txt": b"old\n"})
    write_release_folder(found, dist, output, {"new.txt": b"new\n"})
    assert not (output / "old.txt").exists()
    assert (output / "new.txt").read_text("utf-8") == "new\n"
    assert list((tmp_path / "out").iterdir()) == [output]


def test_links_in_dist_become_the_files_behind_them(repository: Path, dist: Path, tmp_path: Path) -> None:
    """Others unpack a release elsewhere, where a symbolic link leads nowhere."""
    aside = tmp_path / "aside.whl"
    (dist / PLUGIN).rename(aside)
    (dist / PLUGIN).symlink_to(aside)
    output = tmp_path / TAG
    write_release_folder(find_release_set(repository, TAG, dist), dist, output, {})
    assert not (output / PLUGIN).is_symlink()
    assert hash_file(output / PLUGIN) == hash_file(aside)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda path: path.unlink(), "is not there, though release.json lists it"),
        (lambda path: path.write_bytes(b"other"), "is not the file that release.json describes"),
    ],
)
def test_a_damaged_dist_leaves_no_release(
    repository: Path, dist: Path, tmp_path: Path, damage: object, words: str
) -> None:
    """A release is there whole or not at all."""
    assert callable(damage)
    found = find_release_set(repository, TAG, dist)
    damage(dist / PLUGIN)
    with pytest.raises(AttestError, match=words):
        write_release_folder(found, dist, tmp_path / "out" / TAG, {})
    assert list((tmp_path / "out").iterdir()) == []


def test_nothing_else_is_overwritten(repository: Path, dist: Path, tmp_path: Path) -> None:
    """A folder with other files stays as it is."""
    output = tmp_path / "home"
    output.mkdir()
    (output / "thesis.txt").write_text("years of work", "utf-8")
    with pytest.raises(UsageError, match="is in the way: it is no release"):
        write_release_folder(find_release_set(repository, TAG, dist), dist, output, {})
    assert [path.name for path in output.iterdir()] == ["thesis.txt"]


def test_an_unknown_tag_is_refused_with_those_there_are(repository: Path, dist: Path) -> None:
    """A tag is compared as a whole: no part of it is guessed."""
    with pytest.raises(UsageError) as caught:
        find_release_set(repository, "v1.2.3", dist)
    assert str(caught.value) == "unknown tag: 'v1.2.3'\nknown: v1.2.3+split.1, select-vVERSION"


def test_a_tag_without_wheels_is_refused_with_what_there_is(repository: Path, dist: Path) -> None:
    """The versions in the folder are named."""
    with pytest.raises(UsageError) as caught:
        find_release_set(repository, "select-v9.9.9", dist)
    assert (caught.value.what, caught.value.cause) == (
        f"no wheel of select-v9.9.9 in {dist}",
        "its release.json lists 0.1.0, 1.2.3+split.1",
    )


def test_wheels_of_another_release_file_are_refused(repository: Path, dist: Path) -> None:
    """What a release names as its inputs must be what the wheels were made from; a lock is a hash of these."""
    path = repository / "releases" / "1.2.3.toml"
    path.write_text(path.read_text("utf-8") + "# pinned again\n", "utf-8")
    with pytest.raises(AttestError) as caught:
        find_release_set(repository, TAG, dist)
    assert caught.value.what == f"not made from this 1.2.3.toml: {WHEELS[0]} and 3 more"


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda folder: (folder / PLUGIN).write_bytes(b"zip"), f"altered: {PLUGIN}"),
        (lambda folder: (folder / PLUGIN).unlink(), f"missing: {PLUGIN}"),
        (lambda folder: (folder / "extra.whl").touch(), "not listed: extra.whl"),
        (lambda folder: (folder / "link.json").symlink_to("release.json"), "no regular file: link.json"),
        (lambda folder: (folder / "sub").mkdir(), "no regular file: sub"),
        (
            lambda folder: (folder / f"{PLUGIN}.metadata").write_bytes(read_metadata(folder / PLUGIN) + b"\n"),
            f"not the METADATA of its wheel: {PLUGIN}.metadata",
        ),
        (lambda folder: (folder / "release.json.metadata").touch(), "not listed: release.json.metadata"),
        (lambda folder: (folder / "extra.whl.metadata").touch(), "not listed: extra.whl.metadata"),
        (lambda folder: (folder / ".metadata").touch(), "not listed: .metadata"),
    ],
)
def test_damage_of_a_release_is_named(repository: Path, dist: Path, tmp_path: Path, damage: object, words: str) -> None:
    """A file that is altered, missing or added, and what is no file."""
    assert callable(damage)
    output = tmp_path / TAG
    write_release_folder(find_release_set(repository, TAG, dist), tmp_path / "dist", output, {})
    (output / PLUGIN).rename(tmp_path / "aside")  # dist has the same file
    (output / PLUGIN).write_bytes((tmp_path / "aside").read_bytes())
    damage(output)
    with pytest.raises(PjrtWheelError) as caught:
        read_release_folder(output)
    assert caught.value.cause == words


def test_metadata_may_lie_next_to_its_wheel(repository: Path, dist: Path, tmp_path: Path) -> None:
    """As indexes and GitHub releases have it; it is no document of the release, and none without its wheel."""
    output = tmp_path / TAG
    written = write_release_folder(find_release_set(repository, TAG, dist), dist, output, {})
    for name in written.wheels:
        (output / f"{name}.metadata").write_bytes(read_metadata(output / name))
    assert read_release_folder(output) == written
    (output / PLUGIN).unlink()
    with pytest.raises(PjrtWheelError) as caught:
        read_release_folder(output, documents_only=True)
    assert caught.value.cause == f"not listed: {PLUGIN}.metadata"
