# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The hooks of `.pre-commit-config.yaml`, run by pre-commit itself in a repository with a mock `noxw`."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from folders import write_program

pytestmark = pytest.mark.integration
Commit = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.fixture
def repository(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with our hooks installed, in which noxw writes down how it was called."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "repository"
    folder.mkdir()
    shutil.copy(root / ".pre-commit-config.yaml", folder)
    write_program(folder / "noxw", 'echo "$@" >> called\nexit "$(cat status)"')
    (folder / "status").write_text("0", "utf-8")
    (folder / ".gitignore").write_text("called\nstatus\n", "utf-8")
    for command in (["git", "init", "--quiet"], [sys.executable, "-m", "pre_commit", "install"], ["git", "add", "-A"]):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def commit(repository: Path) -> Commit:
    """Return a function that commits what is staged with a message."""
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]

    def run(message: str) -> subprocess.CompletedProcess[str]:
        command = ["git", *identity, "commit", "--message", message]
        return subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)

    return run


def test_a_commit_runs_what_lint_runs(repository: Path, commit: Commit) -> None:
    """The hook has no list of its own: it calls the session."""
    done = commit(f"{'x' * 72}\n\nWhy.")
    assert done.returncode == 0, done.stderr
    assert (repository / "called").read_text("utf-8") == "-s lint\n"


def test_a_commit_that_lint_refuses_is_not_made(repository: Path, commit: Commit) -> None:
    """What the session ends with decides."""
    (repository / "status").write_text("1", "utf-8")
    assert commit("Add a thing").returncode == 1


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("x" * 73, 1),
        ("Add a thing\nwithout a blank line", 1),
        (f"Add a thing\n\n{'A long line of the body. ' * 5}", 0),
        (f"Revert {'x' * 72}", 0),
        (f"fixup! {'x' * 72}", 0),
    ],
    ids=["long", "no-blank", "body", "revert", "fixup"],
)
def test_subject_of_a_commit(commit: Commit, message: str, status: int) -> None:
    """A subject has at most 72 characters and stands alone; what git itself writes is let through."""
    assert commit(message).returncode == status
