# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The wrapper from elsewhere: another working directory, and a path with a space and a letter beyond ASCII."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration
ECHO = "import os, sys\nprint(sys.argv[1:], os.getcwd())\nsys.exit(5)\n"


@pytest.fixture
def wrapper(root: Path, tmp_path: Path) -> Path:
    """Return the wrapper of a copy of this repository, whose tooling prints how it was called and ends with 5."""
    copy = tmp_path / "ein Dépôt"
    tooling = copy / "build/pjrtwheel"
    tooling.mkdir(parents=True)
    for name in ("noxw", "noxfile.py", "pyproject.toml", "build/nox_requirements.txt"):
        shutil.copy(root / name, copy / name)
    for path in (root / "build/pjrtwheel").iterdir():
        (tooling / path.name).symlink_to(path)
    (tooling / "__main__.py").unlink()
    (tooling / "__main__.py").write_text(ECHO)
    shutil.copytree(root / "build/locks", copy / "build/locks")
    for name in ("cpu", "abacus"):
        (copy / "plugins" / name).mkdir(parents=True)
        shutil.copy(root / "plugins/cpu/backend.toml", copy / "plugins" / name)
    return copy / "noxw"


def call(wrapper: Path, *words: str, within: Path) -> subprocess.CompletedProcess[str]:
    """Run the wrapper in a folder."""
    command = [sys.executable, str(wrapper), *words]
    return subprocess.run(command, cwd=within, capture_output=True, text=True, check=False)


def test_backends_are_its_directories(wrapper: Path, tmp_path: Path) -> None:
    """There is a session for each, from a foreign directory."""
    done = call(wrapper, "--list", within=tmp_path)
    builds = set(re.findall(r"^- (build_\w+)", done.stdout, re.MULTILINE))
    assert builds == {"build_cpu", "build_abacus", "build_all", "build_jaxlib"}


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["inspect", "a b.whl"], ["inspect", "a b.whl"]),
        (["build_abacus", "--no-smoke"], ["build", "abacus", "--no-smoke"]),
        (["-s", "build_abacus", "--", "--no-smoke"], ["build", "abacus", "--no-smoke"]),
        (["-r", "-s", "build_abacus", "--", "--no-smoke"], ["build", "abacus", "--no-smoke"]),
    ],
    ids=["command", "session", "as nox", "by nox"],
)
def test_commands_run_where_they_are_called(
    wrapper: Path, tmp_path: Path, words: list[str], command: list[str]
) -> None:
    """With the repository as their root; what they end with is what the wrapper, and nox, ends with."""
    done = call(wrapper, *words, within=tmp_path)
    assert f"{['--root', str(wrapper.parent), *command]} {tmp_path}\n" in done.stdout
    assert done.returncode == 5
    assert not (tmp_path / ".nox").exists()
