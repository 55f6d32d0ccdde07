# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Names of ours that anybody could take on the main package index, or that somebody has."""

import shutil
from pathlib import Path

import pytest

from folders import write_files
from pjrtwheel.cli import main
from pjrtwheel.release_check.names import warn_of_names
from tagged_repository import TAG, make_tagged_repository

OURS = "ab" * 32
START = "warning: names of ours on the package index: "


@pytest.fixture
def root(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with the plugin `jaxlib-abacus`, with an empty folder as pip's first index of two."""
    repository = make_tagged_repository(tmp_path / "own")
    shutil.copy(root / "releases/destinations.toml", repository.root / "releases")
    repository.commit()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "main").as_uri())
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "http://127.0.0.1:9/")
    return repository.root


def put(folder: Path, project: str, *digests: str) -> None:
    """Write the page of a project on the main index, with source archives alone."""
    links = "".join(f'<a href="a-{n}.tar.gz#sha256={digest}">a-{n}.tar.gz</a>' for n, digest in enumerate(digests))
    write_files(folder, {f"main/{project}/index.html": links})


def test_names_that_are_free_or_taken_are_named(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also of a project without a wheel, or without any file; a file of ours, or our own list, makes a name ours."""
    warn_of_names(root, {OURS})
    assert capsys.readouterr().err == f"{START}jaxlib-abacus, jaxlib-auto, jaxlib-select free (see SECURITY.md)\n"
    put(tmp_path, "jaxlib-abacus", "cd" * 32)
    put(tmp_path, "jaxlib-auto", "cd" * 32, OURS)
    put(tmp_path, "jaxlib-select")
    warn_of_names(root, {OURS})
    assert capsys.readouterr().err == f"{START}jaxlib-abacus, jaxlib-select somebody else's (see SECURITY.md)\n"
    path = root / "releases/destinations.toml"
    text = path.read_text("utf-8")
    path.write_text(text.replace("names = []", 'names = ["jaxlib_abacus", "jaxlib-select"]'), "utf-8")
    warn_of_names(root, {OURS})
    assert capsys.readouterr().err == ""


def test_an_index_that_is_silent_or_not_there_is_no_error(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was to be done goes on."""
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/")
    warn_of_names(root, {OURS})
    assert capsys.readouterr().err.startswith("warning: who has our names on the package index is not known: http")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    warn_of_names(root, {OURS})
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("to", "warned"), [("public", True), ("github", False)])
def test_a_release_for_the_public_index_is_warned_of(
    root: Path, to: str, *, warned: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where else it goes, nobody installs by these names from the main index."""
    main(["release_check", "--tag", TAG, "--root", str(root), "--dist", str(root.parent / "dist"), "--to", to])
    assert (START in capsys.readouterr().err) is warned
