# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Names of ours that anybody could take on the main package index, or that somebody has."""

import shutil
from pathlib import Path

import pytest

from folders import write_files
from pjrtwheel.cli import main
from tagged_repository import TAG, make_tagged_repository

TAKEN = ("jaxlib-abacus", "jaxlib-select")


def test_names_that_are_free_or_taken_are_warned_of(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """For the public index; a file of ours on a page, or our own list, makes a name ours."""
    small = make_tagged_repository(tmp_path / "own")
    places = small.root / "releases/destinations.toml"
    shutil.copy(root / "releases/destinations.toml", places)
    small.commit()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "http://127.0.0.1:9/")

    def warn(index: str, to: str = "public") -> list[str]:
        monkeypatch.setenv("PIP_INDEX_URL", index)
        main(["release_check", "--tag", TAG, "--root", str(small.root), "--dist", str(small.dist), "--to", to])
        return [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning: ")]

    main_index, said = tmp_path.as_uri(), "warning: {} names of ours on the package index: {}".format
    assert warn(main_index) == [said("anybody may register", "jaxlib-abacus, jaxlib-auto, jaxlib-select, pjrtwheel")]
    ours = next(iter(small.entries().values())).sha256
    there = dict.fromkeys(("jaxlib-auto", "pjrtwheel"), ours) | dict.fromkeys(TAKEN, "cd" * 32)
    for project, digest in there.items():
        link = f'<a href="a-1.tar.gz#sha256={digest}">a-1.tar.gz</a>'  # also of a project without a wheel
        write_files(tmp_path, {f"{project}/index.html": link})
    assert warn(main_index) == [said("somebody else has", "jaxlib-abacus, jaxlib-select")]
    assert warn(main_index, "github") == []
    places.write_text(places.read_text("utf-8").replace("names = []", 'names = ["jaxlib_abacus"]'), "utf-8")
    assert warn(main_index) == [said("somebody else has", "jaxlib-select")]
    (silent,) = warn("http://127.0.0.1:9/")
    assert silent.startswith("warning: who has our names on the package index is not known: http://127.0.0.1:9/: ")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert warn(main_index) == []
