# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The wrapper from elsewhere: another working directory, and a path with a space and a letter beyond ASCII."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pjrtwheel.backend import load_backends

pytestmark = pytest.mark.integration


def test_wrapper_runs_nox_from_anywhere(root: Path, tmp_path: Path) -> None:
    """A copy of the repository lists its sessions, one per backend directory, from a foreign directory."""
    copy = tmp_path / "ein Dépôt"
    (copy / "build").mkdir(parents=True)
    for name in ("noxw", "noxfile.py", "pyproject.toml", "build/nox_requirements.txt"):
        shutil.copy(root / name, copy / name)
    for name in ("cpu", "abacus"):
        (copy / "plugins" / name).mkdir(parents=True)
        shutil.copy(root / "plugins" / "cpu" / "backend.toml", copy / "plugins" / name)
    command = [sys.executable, str(copy / "noxw"), "--list", "--json", "--tags", "wheel"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    builds = {entry["session"] for entry in json.loads(done.stdout) if entry["session"].startswith("build_")}
    assert builds == {*(f"build_{name}" for name in load_backends(copy)), "build_auto", "build_jaxlib"}
