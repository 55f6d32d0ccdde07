# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What nox prints around the sessions: nothing that buries what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from session_stand_in import load_noxfile


def run_nox(root: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run nox on the sessions of this repository."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("NOX")} | variables
    return subprocess.run(
        [sys.executable, "-m", "nox", "--noxfile", str(root / "noxfile.py"), *words],
        capture_output=True, text=True, check=False, env=environ,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "variables"),
    [(["-s", "build_cpuu"], {}), (["--session=build_cpuu"], {}), (["-l"], {"NOXSESSION": "build_cpuu"})],
    ids=["name", "joined", "variable"],
)
def test_a_session_that_there_is_not(root: Path, words: list[str], variables: dict[str, str]) -> None:
    """Its neighbours are named, in the form of all errors, and nothing comes after them."""
    done = run_nox(root, *words, **variables)
    what, nearest, remedy = done.stderr.splitlines()
    assert (done.returncode, what, remedy) == (3, "error: no session 'build_cpuu'", "       all sessions: ./noxw -l")
    assert nearest.startswith("       nearest to it: build_cpu, ")


@pytest.mark.parametrize(
    ("words", "variable", "names"),
    [
        (["-s", "build_cpu"], "", ["build_cpu"]),
        (["-sbuild_cpu"], "", ["build_cpu"]),
        (["-e", "build_cpu"], "", ["build_cpu"]),
        (["-rvs", "build_cpu"], "", ["build_cpu"]),
        (["--session", "build_cpu"], "", ["build_cpu"]),
        (["--session=build_cpu"], "", ["build_cpu"]),
        (["--sessions=build_cpu"], "", ["build_cpu"]),
        (["--sessions", "build_cpu", "index", "-v"], "", ["build_cpu", "index"]),
        (["-s", "build_cpu", "--", "-s", "index"], "", ["build_cpu"]),
        (["-s", "build_cpu", "-s", "index"], "", ["index"]),
        ([], "build_cpu,index", ["build_cpu", "index"]),
        (["-s", "index"], "build_cpu", ["index"]),
        (["-t", "tidy"], "", ["clean"]),
        (["--tags=tidy"], "build_cpu", ["clean"]),
        (["-t", "tidy", "-s", "build_cpu"], "", ["clean"]),
        (["-k", "build_cpu"], "index", []),
        (["-v", "-l"], "", []),
        ([], "", []),
    ],
    ids=str,
)
def test_which_sessions_are_asked_for(
    root: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], variable: str, names: list[str]
) -> None:
    """In every form that nox takes."""
    monkeypatch.setenv("NOXSESSION", variable)
    noxfile = load_noxfile(root)
    assert noxfile._asked_sessions(noxfile._read_options(words)) == names


@pytest.mark.parametrize("words", [["-v"], ["--verbose"], ["-rv"], ["-vs", "index"]])
def test_all_lines_of_nox_are_wanted(root: Path, words: list[str]) -> None:
    """Its option may be joined with others."""
    read_options = load_noxfile(root)._read_options
    assert (read_options(words).verbose, read_options(["-s", "index", "--", "-v"]).verbose) == (True, False)


FAILING = """
import importlib.util, pathlib
import nox
spec = importlib.util.spec_from_file_location("repository", {noxfile!r})
repository = importlib.util.module_from_spec(spec)
spec.loader.exec_module(repository)
nox.registry.reset()
repository._note = lambda *_: pathlib.Path({note!r})

@nox.session(venv_backend="none")
def index(session):
    repository._run(session, "build", "python", "-m", "pjrtwheel")
"""


@pytest.mark.parametrize("words", [(), ("-v",)], ids=["quiet", "verbose"])
def test_a_session_that_fails(root: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    """It ends as its command did, whose error is all that is printed; with -v nox says what it ran."""
    program, note, noxfile = (tmp_path / name for name in ("python", "note", "noxfile.py"))
    program.write_text("#!/bin/sh\necho 'error: no bead' >&2\nexit 5\n")
    program.chmod(0o755)
    note.write_text(str(tmp_path))
    noxfile.write_text(FAILING.format(noxfile=str(root / "noxfile.py"), note=str(note)))
    done = subprocess.run(
        [sys.executable, "-m", "nox", "--noxfile", str(noxfile), *words, "-s", "index"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 5
    lines = done.stdout.splitlines()
    assert "error: no bead" in lines
    assert (lines == ["error: no bead"]) is (not words)
    assert any("failed with exit code 5" in line for line in lines) is bool(words)


def test_a_program_that_is_not_there_is_named(root: Path, tmp_path: Path) -> None:
    """It cannot say so itself."""
    note, noxfile = tmp_path / "note", tmp_path / "noxfile.py"
    note.write_text(str(tmp_path / "gone"))
    noxfile.write_text(FAILING.format(noxfile=str(root / "noxfile.py"), note=str(note)))
    command = [sys.executable, "-m", "nox", "--noxfile", str(noxfile), "-s", "index"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: cannot run {tmp_path / 'gone' / 'python'}: ")
