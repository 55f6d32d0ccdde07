# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The wheels install by their plain names, and JAX runs on the plugin."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from folders import site_packages_of
from pjrtwheel.backend import find_backend
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.prove.smoke import run_program
from pjrtwheel.record.proofs import Outcome
from pjrtwheel.release.model import Release

pytestmark = pytest.mark.integration


def test_plain_pip_takes_our_wheels(
    built_wheels: Path, interpreter: Interpreter, release: Release, root: Path, tmp_path: Path
) -> None:
    """With the package index in reach, our jaxlib wins over upstream's of the same version by its build tag."""
    subprocess.run([str(interpreter.path), "-I", "-m", "venv", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    names = [f"jax=={release.version}", *(f"{name}=={release.set_version}" for name in ("jaxlib", "jaxlib-cpu"))]
    command = [str(python), "-m", "pip", "install", "--quiet", *names, "--find-links", str(built_wheels)]
    subprocess.run(command, check=True, env=clean_environ())
    site = site_packages_of(python)
    locks = [(site / package / "release_lock.json").read_text() for package in ("jaxlib", "jaxlib_cpu")]
    assert locks[0] == locks[1]
    result = run_program(python, root / "tests" / "smoke" / "jit.py", find_backend(root, "cpu"))
    assert result.outcome is Outcome.PASSED, result.detail


def test_the_record_claims_what_was_shown(
    built_wheels: Path, release: Release, pinned_api: Callable[[str], tuple[str, int]]
) -> None:
    """One wheel per Python and one plugin; a Python without an interpreter is recorded as not run."""
    document = json.loads((built_wheels / "release.json").read_text("utf-8"))
    assert {path.name for path in built_wheels.iterdir()} == {
        "release.json",
        *(entry["filename"] for entry in document["wheels"]),
    }
    (plugin,) = (entry for entry in document["wheels"] if entry["distribution"] == "jaxlib-cpu")
    assert len(document["wheels"]) == 1 + len(release.pythons("linux_x86_64"))
    assert (plugin["pjrt_api"], plugin["gpu_code"]) == (pinned_api("cpu")[0], [])
    assert plugin["proof"]["pjrt_attributes"]["xla_version"] == "2"
    for proof in plugin["proof"]["pythons"]:
        ran = bool(proof["programs"])
        assert (proof["level"], proof["reason"]) == (("device", "") if ran else ("static", "no interpreter"))


@pytest.fixture
def no_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the package index away from pip and uv, whatever this machine's configuration says."""
    for name, value in (("PIP_CONFIG_FILE", os.devnull), ("PIP_NO_INDEX", "1"), ("UV_OFFLINE", "1")):
        monkeypatch.setenv(name, value)
    for name in ("PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("wheel_python", "no_index")
def test_a_full_cache_needs_no_index(make_environment: Callable[[Path], Path], tmp_path: Path) -> None:
    """Once the requirements are cached, clean environments are made without any network."""
    python = make_environment(tmp_path)
    subprocess.run([str(python), "-I", "-c", "import jax"], check=True, env=clean_environ())


def test_the_smoke_programs_notice_the_wrong_client(wheel_python: Path, root: Path, tmp_path: Path) -> None:
    """A program that runs well on JAX's built-in client proves nothing about the plugin."""
    program = tmp_path / "program.py"
    program.write_text(
        "import os\nos.environ['JAXLIB_CPU_DISABLE'] = '1'\n" + (root / "tests/smoke/sort.py").read_text()
    )
    result = run_program(wheel_python, program, find_backend(root, "cpu"))
    assert result.outcome is Outcome.FAILED
    assert "JAX runs on its built-in client" in result.detail.splitlines()[-1]
