# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's CPU build and JAX on our wheels in one process, in either order, with a CUDA plugin but no GPU.

PyTorch is taken from the machine, since the package index has it with CUDA only: Debian's `python3-torch` will do.
"""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pjrtwheel.backend import find_backend
from pjrtwheel.environment.interpreters import Interpreter, find_interpreters
from pjrtwheel.environment.venv import create_venv, install, requirement_group, wheelhouse
from pjrtwheel.fetch import cache_root
from pjrtwheel.prove.on_python import run_program
from pjrtwheel.record.proofs import Outcome
from pjrtwheel.release.model import Release
from pjrtwheel.wheel.names import parse_name
from programs import run_code

pytestmark = [pytest.mark.integration, pytest.mark.slow]


def has_torch(interpreter: Interpreter) -> bool:
    """Return whether an interpreter comes with PyTorch."""
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"
    return subprocess.run([str(interpreter.path), "-I", "-c", code], check=False).returncode == 0


@pytest.fixture(scope="module")
def torch_interpreter(release: Release) -> Interpreter:
    """Return a Python of the release that comes with PyTorch."""
    found = [entry for entry in find_interpreters(release.pythons("linux_x86_64")).values() if entry]
    with_torch = [interpreter for interpreter in found if has_torch(interpreter)]
    if not with_torch:
        versions = ", ".join(interpreter.version for interpreter in found) or "none is installed"
        pytest.skip(f"no Python of this release comes with PyTorch here ({versions}); Debian has python3-torch")
    return with_torch[0]


@pytest.fixture(scope="module")
def torch_python(
    torch_interpreter: Interpreter,
    root: Path,
    release: Release,
    built_wheels: Path,
    backend_wheels: Callable[[str], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """Return the Python of an environment with that PyTorch, JAX, and our wheels for the CPU and CUDA 13."""
    dists = [built_wheels, backend_wheels("cuda13")]
    wheels = {wheel.name: wheel for dist in dists for wheel in dist.glob("*.whl")}
    fitting = [wheel for wheel in wheels.values() if parse_name(wheel.name).fits(torch_interpreter.tag)]
    requirements = [f"jax=={release.version}", *requirement_group(root, "smoke")]
    folder = wheelhouse(torch_interpreter, requirements, fitting, cache_root(os.environ))
    python = create_venv(torch_interpreter, tmp_path_factory.mktemp("torch") / "venv")
    settings = python.parent.parent / "pyvenv.cfg"  # PyTorch is installed with the interpreter
    settings.write_text(settings.read_text().replace("system-site-packages = false", "system-site-packages = true"))
    ours = [parse_name(wheel.name).requirement for wheel in fitting]
    install(python, [*requirements, *ours], [folder, *dists])
    return python


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide a GPU of this machine from both."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")


@pytest.mark.parametrize("order", [("torch", "jax"), ("jax", "torch")], ids=" then ".join)
def test_both_work_in_either_order(torch_python: Path, root: Path, tmp_path: Path, order: tuple[str, str]) -> None:
    """They compute, share memory, call each other and end in order, and JAX runs on the plugin."""
    page = root / "tests/downstream/torch_with_jax.py"
    program = tmp_path / "program.py"
    program.write_text(f"import runpy\n\n\ndef check():\n    return runpy.run_path({str(page)!r})['check']({order})\n")
    proof = run_program(torch_python, program, find_backend(root, "cpu"))
    assert proof.outcome is Outcome.PASSED, proof.detail
    assert proof.detail.startswith(f"{' before '.join(order)}: ")


def test_cuda_without_a_gpu_is_one_line(torch_python: Path, tmp_path: Path) -> None:
    """Whatever PyTorch has loaded before: the CUDA plugin says that it is not needed, and JAX goes on with the CPU."""
    code = "import torch, jax; print(torch.ones(1), jax.numpy.ones(1), jax.devices())"
    result = run_code(torch_python, code, folder=tmp_path)
    assert (result.returncode, result.stdout) == (0, "tensor([1.]) [1.] [CpuDevice(id=0)]\n"), result.stderr
    (said,) = [line for line in result.stderr.splitlines() if "jaxlib-cuda-13" in line]
    assert "; JAX goes on without it" in said
