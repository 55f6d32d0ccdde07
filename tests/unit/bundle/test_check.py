# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A bundle is held to its manifest, each file by name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from console_blocks import alike, shown
from pjrtwheel import cli
from pjrtwheel.bundle.check import check_once, list_problems
from pjrtwheel.bundle.manifest import BundledFile, Kind, read_manifest
from pjrtwheel.errors import FetchError

WHEEL = "wheels/other-2.0-py3-none-any.whl"
REMEDY = "copy these files again from where the bundle was made, and remove what is not listed"


def alter(path: Path) -> None:
    """Change one byte of a file in its middle, and nothing else about it."""
    status, data = path.stat(), bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def check(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    """Return the status of `bundle --check`, and the lines that it printed."""
    status = cli.main(["bundle", "--check", str(folder)])
    said = capsys.readouterr()
    return status, (said.out + said.err).splitlines()


def test_whole_bundle_passes(bundle: Path, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And says what was looked at, as the release guide shows it."""
    line = f"{bundle}: 5 files, all as bundle.json lists them; commit {'0' * 40}"
    assert check(bundle, capsys) == (0, [line])
    page = shown(root / "docs/release/offline-bundle.md", "./noxw -s bundle -- --check")
    assert alike(page.replace("/media/disk/bundle", str(bundle)), line)


def test_missing_file_is_named(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In three lines."""
    (bundle / WHEEL).unlink()
    lines = [f"error: damaged bundle: {bundle}", f"       missing: {WHEEL}", f"       {REMEDY}"]
    assert check(bundle, capsys) == (FetchError.exit_code, lines)


def test_truncated_file_is_named(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With its length and the one that it should have."""
    size = (bundle / WHEEL).stat().st_size
    os.truncate(bundle / WHEEL, 100)
    lines = [f"error: damaged bundle: {bundle}", f"       truncated: {WHEEL}: 100 of {size} bytes", f"       {REMEDY}"]
    assert check(bundle, capsys) == (FetchError.exit_code, lines)


def test_altered_file_is_named(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also one whose length and time are the same; that is true of a page as of a wheel."""
    alter(bundle / "simple/demo/index.html")
    line = "altered: simple/demo/index.html: its sha256 is another than the manifest's"
    lines = [f"error: damaged bundle: {bundle}", f"       {line}", f"       {REMEDY}"]
    assert check(bundle, capsys) == (FetchError.exit_code, lines)


def test_several_problems_are_a_list(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All of them at once, in the order of the manifest."""
    (bundle / "simple/index.html").unlink()
    with (bundle / WHEEL).open("ab") as file:
        file.write(b"more")
    size = (bundle / WHEEL).stat().st_size
    status, lines = check(bundle, capsys)
    assert status == FetchError.exit_code
    assert [line.strip() for line in lines] == [
        f"error: damaged bundle: {bundle}: 2 files",
        f"too long: {WHEEL}: {size} of {size - 4} bytes",
        "missing: simple/index.html",
        REMEDY,
    ]


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("", "it is not finished: bundle.json is written last"),
        ("wheels", "a bundle has a bundle.json; it has none"),
        ("none", "it is not there; is its disk mounted?"),
        (WHEEL, "it is a file, and no folder"),
    ],
)
def test_what_is_no_bundle_is_refused(bundle: Path, capsys: pytest.CaptureFixture[str], name: str, cause: str) -> None:
    """The manifest is written last, so a bundle that was not finished has none."""
    (bundle / "bundle.json").rename(bundle / "bundle.begun")
    status, lines = check(bundle / name, capsys)
    assert (status, lines[:2]) == (FetchError.exit_code, [f"error: no bundle: {bundle / name}", f"       {cause}"])


@pytest.mark.parametrize("name", ["wheels/evil-1.0-py3-none-any.whl", "simple/evil/index.html"])
def test_file_that_is_not_listed_is_named(bundle: Path, tmp_path: Path, name: str) -> None:
    """Installers would take it; a session refuses it as well."""
    (bundle / name).parent.mkdir(exist_ok=True)
    (bundle / name).touch()
    for _ in range(2):
        with pytest.raises(FetchError, match="damaged bundle") as caught:
            check_once(bundle, read_manifest(bundle), tmp_path / "cache")
        assert caught.value.cause == f"not listed: {name}"


def test_paths_that_cannot_be_read_are_named(bundle: Path) -> None:
    """A path may hold any letter, and a link may lead to itself."""
    (bundle / WHEEL).unlink()
    (bundle / WHEEL).symlink_to(bundle / WHEEL)
    listed = [BundledFile(Kind.TOOL, name, 1, "0" * 64) for name in ("a\0b", WHEEL)]
    problems = list_problems(bundle, listed)[:2]
    assert problems == [
        "not readable: 'a\\x00b': embedded null byte",
        f"not readable: {WHEEL!r}: Too many levels of symbolic links",
    ]


@pytest.mark.parametrize(
    ("old", "new", "cause"),
    [
        ('"schema": 1', '"schema": 2', "of format 2, expected 1"),
        ("{", "[", "malformed"),
        ("wheels/Demo", "../Demo", "malformed"),
        ("wheels/Demo", "/Demo", "malformed"),
    ],
)
def test_manifest_that_cannot_be_read_is_refused(
    bundle: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, cause: str
) -> None:
    """One of another format, one that is damaged, and one that leads out of the folder."""
    path = bundle / "bundle.json"
    path.write_text(path.read_text().replace(old, new, 1))
    status, lines = check(bundle, capsys)
    assert status == FetchError.exit_code
    assert cause in lines[0]


def test_files_are_hashed_once_for_sessions(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second session only looks at their states; a file that was written since is hashed again, and named."""
    manifest, hashed = read_manifest(bundle), list[str]()

    def hash_file(path: Path) -> str:
        hashed.append(path.relative_to(bundle).as_posix())
        return next(file.sha256 for file in manifest.files if bundle / file.path == path)

    monkeypatch.setattr("pjrtwheel.bundle.check.hash_file", hash_file)
    for _ in range(2):
        check_once(bundle, manifest, tmp_path / "cache")
    assert sorted(hashed) == sorted(file.path for file in manifest.files)
    monkeypatch.undo()
    alter(bundle / WHEEL)
    with pytest.raises(FetchError, match="damaged bundle") as caught:
        check_once(bundle, manifest, tmp_path / "cache")
    assert caught.value.cause.startswith(f"altered: {WHEEL}")


def test_cache_that_cannot_be_written_costs_only_time(bundle: Path, tmp_path: Path) -> None:
    """As a file in the place of a folder shows."""
    (tmp_path / "cache").touch()
    check_once(bundle, read_manifest(bundle), tmp_path / "cache")
