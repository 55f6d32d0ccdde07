# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The script for macOS and Windows knows which `jaxlib` of a folder is meant, and what a program showed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from smoke_native import find_bindings, main, run_program

OLD = {"distribution": "jaxlib", "version": "1.9+split.1", "filename": "a.whl"}
NEW = {"distribution": "jaxlib", "version": "1.10", "filename": "b.whl"}
OTHER = {"distribution": "jaxlib-abacus", "version": "1.11", "filename": "c.whl"}


def write_record(dist: Path, *entries: dict[str, str]) -> Path:
    """Write the part of release.json that matters."""
    (dist / "release.json").write_text(json.dumps({"wheels": entries}), "utf-8")
    return dist


def test_the_release_is_found_with_or_without_a_label(tmp_path: Path) -> None:
    """By its name, by the version of one of its sets, or because there is no other."""
    dist = write_record(tmp_path, OLD, NEW, OTHER)
    assert find_bindings(dist, "1.9") == [OLD]
    assert find_bindings(dist, "1.10") == [NEW]
    newer = {**OLD, "version": "1.9+split.2"}
    assert find_bindings(write_record(tmp_path, OLD, newer), "1.9+split.1") == [OLD]
    assert find_bindings(write_record(tmp_path, OLD, OLD, OTHER), None) == [OLD, OLD]


@pytest.mark.parametrize(
    ("entries", "release", "there"),
    [((OLD, NEW), None, "1.10, 1.9+split.1"), ((OLD,), "1.10", "1.9+split.1"), ((OTHER,), None, "none")],
)
def test_what_cannot_be_chosen_is_said(
    tmp_path: Path, entries: tuple[dict[str, str], ...], release: str | None, there: str
) -> None:
    """With what there is to choose from."""
    with pytest.raises(SystemExit) as caught:
        find_bindings(write_record(tmp_path, *entries), release)
    assert caught.value.code == f"--release has to say which jaxlib of {tmp_path} is meant; there are: {there}"


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ("import os; os._exit(0)", "the process ended with status 0 and without a result"),
        ("import os; os._exit(3)", "the process ended with status 3 and without a result"),
        ("import atexit, os; atexit.register(os._exit, 3); return 'x'", "the process ended with status 3"),
    ],
)
def test_a_program_that_ends_early_has_failed(body: str, detail: str, tmp_path: Path) -> None:
    """Also with status 0: it has shown nothing; and a crash at the end is one, whatever was shown before."""
    program = tmp_path / "program.py"
    lines = ["import importlib.metadata", "def check():", "    importlib.metadata.version = str", f"    {body}"]
    program.write_text("\n".join(lines), "utf-8")
    assert run_program(Path(sys.executable), program) == {"outcome": "failed", "detail": detail}


def test_an_unknown_program_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With those there are, before anything is installed."""
    with pytest.raises(SystemExit) as caught:
        main([str(tmp_path), "--program", "nothing"])
    assert caught.value.code == 2
    message = capsys.readouterr().err
    assert "invalid choice: 'nothing'" in message
    assert "'vmap'" in message
