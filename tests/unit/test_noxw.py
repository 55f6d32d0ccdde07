# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The wrapper that brings nox along."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

from pjrtwheel.fetch.cache import cache_root


def load(path: Path) -> dict[str, object]:
    """Return what the script defines; it has no .py suffix to import it by."""
    names: dict[str, object] = {"__name__": "noxw", "__file__": str(path)}
    exec(compile(path.read_text("utf-8"), path, "exec"), names)  # noqa: S102
    return names


def test_oldest_python_is_the_projects(root: Path) -> None:
    """The wrapper, which cannot read TOML everywhere, and pyproject.toml agree."""
    required = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"]
    assert load(root / "noxw")["OLDEST"] == tuple(map(int, required.removeprefix(">=").split(".")))


def test_cache_is_the_toolings(root: Path) -> None:
    """The wrapper, which cannot import the tooling, keeps its environment in the same cache."""
    assert load(root / "noxw")["cache_directory"]() == cache_root(os.environ)  # type: ignore[operator]


def test_pinned_nox_is_the_projects(root: Path) -> None:
    """The wrapper installs the nox that pyproject.toml names."""
    groups = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    locked = (root / "build" / "nox_requirements.txt").read_text("utf-8")
    assert f"\n{groups['nox'][0]} \\\n" in locked


def test_python_that_cannot_be_used_is_an_error_with_a_remedy(root: Path, tmp_path: Path) -> None:
    """A Python that does not run is reported in three lines, and nothing is made."""
    environ = {**os.environ, "PJRTWHEEL_PYTHON": "no-such-python", "PJRTWHEEL_CACHE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, root / "noxw", "-l"], env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == (
        "error: no Python 3.11 or newer with venv and pip\n"
        "       looked for: no-such-python\n"
        "       install one (on Debian: apt-get install python3-venv), or name it in PJRTWHEEL_PYTHON\n"
    )
    assert list(tmp_path.iterdir()) == []
