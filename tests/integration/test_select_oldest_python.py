# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`jaxlib-select` on the oldest Python that it is for, installed there, and on older ones, which refuse."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from jaxlib_select.facts import releases_within
from pjrtwheel.environment.interpreters import Interpreter, find_interpreters
from pjrtwheel.environment.venv import create_venv
from pjrtwheel.products.pure_python import build_project

pytestmark = [pytest.mark.integration, pytest.mark.slow]

OLDEST = "cp311"
TOO_OLD = ("cp39", "cp310")
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

# What pip writes into `bin/jaxlib-select`, in one line.
CONSOLE_SCRIPT = "import sys; from jaxlib_select.__main__ import main; sys.exit(main())"

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def run(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a function that runs the installed command in a folder with a machine."""
    interpreter = find_interpreters([OLDEST])[OLDEST]
    if interpreter is None:
        pytest.skip("Python 3.11 is not installed here")
    folder = tmp_path_factory.mktemp("oldest")
    python = create_venv(interpreter, folder / "venv")
    subprocess.run([python, "-m", "ensurepip"], capture_output=True, check=True)
    wheel = build_project(root / "selector", root, folder / "dist").path
    subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], check=True)
    (folder / "machine.json").write_text(json.dumps(GTX), "utf-8")
    (folder / "pyproject.toml").write_text(PYPROJECT, "utf-8")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        command = [str(python.parent / "jaxlib-select"), *words]
        return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)

    return run


TORCH = ("install", "--dry-run", "--machine", "machine.json", "--backend", "cpu", "torch")
LOCK = ("lock", "jax", "--machine", "machine.json", "--format", "uv", "--groups", "cpu")


@pytest.mark.parametrize(
    ("words", "status", "named"),
    [
        (("detect", "--json"), 0, '"os": "linux"'),
        (("resolve", "jax", "--machine", "machine.json", "--json"), 0, "nvidia-cudnn-cu12<9.11"),
        # By a pyproject.toml that only a real TOML reader understands.
        (("resolve", "torch", "--machine", "machine.json", "--json"), 0, '"backend": "cpu"'),
        (TORCH, 0, "https://download.pytorch.org/whl/cpu"),
        ((*TORCH[:-1], "jax"), 2, f"JAX {releases_within()[0]} needs Python >=3.12"),
        (LOCK, 0, "cpu = ["),
        (("doctor", "--machine", "machine.json", "--json"), 1, '"versions": {}'),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_each_command_works(run: Run, words: tuple[str, ...], status: int, named: str) -> None:
    """With the standard library of that Python alone, which is too old for JAX itself."""
    done = run(*words)
    assert (done.returncode, named in done.stdout + done.stderr) == (status, True), done.stderr


@pytest.fixture(params=TOO_OLD)
def old_python(request: pytest.FixtureRequest) -> Interpreter:
    """An interpreter that is too old."""
    interpreter = find_interpreters([request.param])[request.param]
    if interpreter is None:
        pytest.skip(f"no {request.param} is installed here")
    return interpreter


@pytest.mark.parametrize(
    "arguments", [["-m", "jaxlib_select", "detect"], ["-m", "jaxlib_select"], ["-c", CONSOLE_SCRIPT]]
)
def test_an_older_python_gets_one_line(
    arguments: list[str], old_python: Interpreter, root: Path, tmp_path: Path
) -> None:
    """From a source tree, or by the console script of an unpacked wheel: which Python, and what is needed."""
    environ = {"PYTHONPATH": str(root / "selector"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(old_python.path), *arguments]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    (line,) = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "")
    assert line.startswith("error: jaxlib-select needs Python 3.11 or newer, ")


def test_an_older_python_cannot_import_it(old_python: Interpreter, root: Path, tmp_path: Path) -> None:
    """In a program the same line is an `ImportError`."""
    program = "import jaxlib_select\ntry:\n    jaxlib_select.require\nexcept ImportError as error:\n    print(error)"
    environ = {"PYTHONPATH": str(root / "selector"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(old_python.path), "-c", program]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("jaxlib-select needs Python 3.11 or newer, ")


def test_pip_of_an_older_python_refuses_it(old_python: Interpreter, root: Path, tmp_path: Path) -> None:
    """By the `Requires-Python` of the wheel."""
    wheel = build_project(root / "selector", root, tmp_path / "dist").path
    python = create_venv(old_python, tmp_path / "venv")
    subprocess.run([python, "-m", "ensurepip"], capture_output=True, check=True)
    done = subprocess.run([python, "-m", "pip", "install", wheel], capture_output=True, text=True, check=False)
    assert (done.returncode, "requires a different Python" in done.stderr) == (1, True)
