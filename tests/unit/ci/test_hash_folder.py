# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""One digest for a folder, by which a job knows what another one handed on."""

import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import hash_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two files, one of them in a folder below."""
    (tmp_path / "dist/simple").mkdir(parents=True)
    (tmp_path / "dist/release.json").write_text("{}")
    (tmp_path / "dist/simple/a b.whl").write_bytes(b"zip")
    return tmp_path / "dist"


def rename(folder: Path) -> None:
    """Give a file another name."""
    (folder / "release.json").rename(folder / "release.txt")


def test_it_is_the_digest_of_what_sha256sum_prints(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """So that anybody can compute it."""
    command = ("sha256sum", "--", "release.json", "simple/a b.whl")
    listed = subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout
    hash_folder.main([str(folder)])
    digest = capsys.readouterr().out
    assert digest == f"{hashlib.sha256(listed).hexdigest()}\n"
    hash_folder.main([str(folder), digest.strip()])


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "release.json").write_text("{ }"),
        lambda folder: (folder / "other").touch(),
        lambda folder: (folder / "simple/a b.whl").unlink(),
        rename,
    ],
    ids=["altered", "added", "taken away", "renamed"],
)
def test_any_change_is_noticed(folder: Path, change: Callable[[Path], object]) -> None:
    """The message says which folder it is."""
    before = hash_folder.hash_folder(folder)
    change(folder)
    with pytest.raises(SystemExit, match=r"^::error::.*dist is not what the job before handed on: "):
        hash_folder.main([str(folder), before])


def test_no_statement_is_no_match(folder: Path, tmp_path: Path) -> None:
    """An output that was never set is empty; an empty folder is nothing to hand on."""
    with pytest.raises(SystemExit, match=", not stated"):
        hash_folder.main([str(folder), ""])
    (tmp_path / "empty").mkdir()
    with pytest.raises(SystemExit, match="is empty"):
        hash_folder.main([str(tmp_path / "empty")])
