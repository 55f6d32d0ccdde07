# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`jaxlib-select` on the oldest Python that it is for, or the oldest one here: installed from its source, and run."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pjrtwheel.environment.interpreters import find_interpreters
from pjrtwheel.environment.venv import create_venv

pytestmark = pytest.mark.integration

OLD = ("cp39", "cp310")  # without `tomllib`
GTX = {
    "os": "linux",
    "arch": "x86_64",
    "nvidia": {"cuda": "12.4", "cuinit": 0, "gpus": [{"compute_capability": "6.1"}]},
}
# As a project of uv has it that was locked with `--format uv`.
PYPROJECT = """
[tool.uv]
conflicts = [
    [{ extra = "cpu" }, { extra = "cuda12" }],
]
[tool.jaxlib-select]
backends.torch = "cpu"
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def run(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a function that runs the command, installed as its README says, in a folder with a machine."""
    interpreter = next((found for found in find_interpreters(OLD).values() if found), None)
    if interpreter is None:
        pytest.skip("no Python older than 3.11 is installed here")
    folder = tmp_path_factory.mktemp("oldest")
    python = create_venv(interpreter, folder / "venv")
    subprocess.run([python, "-m", "ensurepip"], capture_output=True, check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", root / "selector"], check=True)
    (folder / "machine.json").write_text(json.dumps(GTX), "utf-8")
    (folder / "pyproject.toml").write_text(PYPROJECT, "utf-8")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        command = [str(python.parent / "jaxlib-select"), *words]
        return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)

    return run


def test_it_detects(run: Run) -> None:
    """With the standard library of that Python alone."""
    done = run("detect", "--json")
    assert (done.returncode, json.loads(done.stdout)["os"]) == (0, "linux")


def test_it_resolves(run: Run) -> None:
    """For a machine in a file, with the policy of a pyproject.toml that only a real TOML reader understands."""
    done = run("resolve", "jax", "--machine", "machine.json", "--json")
    assert (done.returncode, json.loads(done.stdout)["constraints"]) == (0, ["nvidia-cudnn-cu12<9.11"])
    done = run("resolve", "torch", "--machine", "machine.json", "--json")
    assert json.loads(done.stdout)["backend"] == "cpu"


def test_it_plans_an_installation(run: Run) -> None:
    """The commands; that Python is too old for JAX itself."""
    done = run("install", "--dry-run", "--machine", "machine.json", "--backend", "cpu", "torch")
    assert (done.returncode, done.stdout.split()[-2:]) == (
        0,
        ["https://download.pytorch.org/whl/cpu", "'torch==2.14.*'"],
    )
    done = run("install", "--dry-run", "--machine", "machine.json", "--backend", "cpu", "jax")
    assert (done.returncode, "error: JAX 0.11.2 needs Python >=3.12" in done.stderr) == (2, True)


def test_it_locks(run: Run) -> None:
    """For a project of uv."""
    done = run("lock", "jax", "--machine", "machine.json", "--format", "uv", "--groups", "cpu")
    assert (done.returncode, "cpu = [" in done.stdout) == (0, True)


def test_it_examines(run: Run) -> None:
    """An environment without JAX."""
    done = run("doctor", "--machine", "machine.json", "--json")
    assert json.loads(done.stdout)["versions"] == {}
