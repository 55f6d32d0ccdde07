# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Building wheels of pure Python with setuptools."""

import os
import zipfile
from pathlib import Path

import pytest

from pjrtwheel.errors import WheelError
from pjrtwheel.products.pure_python import build_pure_wheel
from release_under_test import ROOT

PYPROJECT = (ROOT / "tests/data/abacus_project.toml").read_text("utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return the folder of a project with one module."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(PYPROJECT)
    (folder / "abacus.py").write_text("BEADS = 10\n")
    return folder


def test_the_same_source_gives_the_same_bytes(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the times and permissions of its files, and whatever an earlier build left there."""
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    first = build_pure_wheel(project, tmp_path / "first")
    (project / "build/lib").mkdir(parents=True)
    (project / "build/lib/stale.py").write_text("")
    (project / "abacus.py").chmod(0o600)
    os.utime(project / "abacus.py", (1e9, 1e9))
    before = sorted(project.rglob("*"))
    second = build_pure_wheel(project, tmp_path / "second")
    assert (first.report, first.path.read_bytes()) == (second.report, second.path.read_bytes())
    assert first.report.filename == "abacus-1.0-py3-none-any.whl"
    assert first.report.requires == ("beads>=2",)
    assert sorted(project.rglob("*")) == before
    with zipfile.ZipFile(second.path) as archive:
        assert {entry.date_time[0] for entry in archive.infolist()} == {1980}


def test_the_date_is_that_of_source_date_epoch(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for every other wheel."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795254000")
    with zipfile.ZipFile(build_pure_wheel(project, tmp_path).path) as archive:
        assert {entry.date_time[:3] for entry in archive.infolist()} == {(2026, 11, 21)}


def test_what_cannot_be_built_is_an_error(project: Path, tmp_path: Path) -> None:
    """With the last thing that the program said."""
    (project / "pyproject.toml").write_text("[build-system\n")
    with pytest.raises(WheelError, match=r"the wheel of .*project could not be built\n.*pyproject.toml"):
        build_pure_wheel(project, tmp_path / "out")
    assert not (tmp_path / "out").exists()
