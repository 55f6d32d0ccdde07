# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The wrapper from elsewhere: another working directory, and a path with a space and a letter beyond ASCII."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.backend import load_backends

pytestmark = pytest.mark.integration


def copy_front_end(root: Path, copy: Path) -> Path:
    """Copy what the wrapper needs, and return the copy of the wrapper."""
    (copy / "build").mkdir(parents=True)
    for name in ("noxw", "noxfile.py", "pyproject.toml", "build/nox_requirements.txt"):
        shutil.copy(root / name, copy / name)
    return copy / "noxw"


def test_wrapper_runs_nox_from_anywhere(root: Path, tmp_path: Path) -> None:
    """A copy of the repository lists its sessions, one per backend directory, from a foreign directory."""
    copy = tmp_path / "ein Dépôt"
    wrapper = copy_front_end(root, copy)
    for name in ("cpu", "abacus"):
        (copy / "plugins" / name).mkdir(parents=True)
        shutil.copy(root / "plugins" / "cpu" / "backend.toml", copy / "plugins" / name)
    command = [sys.executable, str(wrapper), "--list", "--json", "--tags", "wheel"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    builds = {entry["session"] for entry in json.loads(done.stdout) if entry["session"].startswith("build_")}
    assert builds == {
        *(f"build_{name}" for name in load_backends(copy)),
        "build_all",
        "build_auto",
        "build_jaxlib",
        "build_select",
    }


@pytest.mark.parametrize("options", [[], ["-j2", "--allow-parallel", "--envdir", "elsewhere"]], ids=["", "parallel"])
def test_sessions_with_one_group_share_one_environment(
    root: Path, tmp_path: Path, list_wheel: Callable[..., dict[str, Any]], options: list[str]
) -> None:
    """The tooling of two sessions runs on the Python of the same environment, whose programs are on PATH."""
    copy = tmp_path / "copy"
    wrapper = copy_front_end(root, copy)
    wheel = tmp_path / "demo-1.0-py3-none-any.whl"
    list_wheel(wheel, python=">=3.11")
    (copy / "pyproject.toml").write_text(
        f'[dependency-groups]\nbuild = ["demo @ {wheel.as_uri()}"]\ntests = []\nbench = []\n'
    )
    package = copy / "build" / "pjrtwheel"
    package.mkdir()
    lines = ["import os, shutil, sys", "print(sys.argv[1], sys.prefix, shutil.which('python'), os.getcwd())"]
    (package / "__main__.py").write_text("\n".join(lines))
    command = [sys.executable, str(wrapper), "-s", "merge", "inspect", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    environments = copy / (options[-1] if options else ".nox")
    prefix = environments / "environment_build"
    line = f"{prefix} {prefix}/bin/python {tmp_path}"
    said = [text for text in done.stdout.splitlines() if text.startswith(("merge", "inspect"))]
    assert sorted(said) == [f"inspect {line}", f"merge {line}"]
    assert {path.name for path in environments.iterdir() if path.is_dir()} == {".cache", "environment_build"}
    assert not (tmp_path / ".nox").exists()


def test_a_session_that_there_is_not_is_answered_with_the_nearest(root: Path, tmp_path: Path) -> None:
    """The names of the backends that there are follow from their directories."""
    wrapper = copy_front_end(root, tmp_path / "copy")
    for name in ("cuda12", "cuda13"):
        (tmp_path / "copy/plugins" / name).mkdir(parents=True)
        (tmp_path / "copy/plugins" / name / "backend.toml").touch()
    command = [sys.executable, str(wrapper), "-s", "build_cuda14", "lint", "--", "build_cpu"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    what, line, remedy = done.stderr.splitlines()
    assert (done.returncode, what, remedy) == (3, "error: no session 'build_cuda14'", "       all sessions: ./noxw -l")
    nearest = set(line.removeprefix("       nearest to it: ").split(", "))
    assert {"build_cuda12", "build_cuda13"} <= nearest
