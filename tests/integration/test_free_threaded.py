# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Our wheels on a free-threaded Python, for which there are none: installers refuse them, and so does the loader.

An installer that is older than free threading (pip before 24.1) installs them all the same; here they are unpacked.
"""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest

from pjrtwheel.environment.interpreters import Interpreter, find_interpreters
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.environment.venv import find_uv
from pjrtwheel.release.model import Release

pytestmark = pytest.mark.integration


@pytest.fixture(scope="session")
def free_threaded(release: Release) -> Interpreter:
    """Return a free-threaded Python of a version that the release is for."""
    found = find_interpreters(f"{tag}t" for tag in release.pythons("linux_x86_64"))
    present = [interpreter for interpreter in found.values() if interpreter]
    if not present:
        pytest.skip(f"no free-threaded Python is installed here: none of {', '.join(found)} on PATH, in pyenv or uv")
    return present[-1]


@pytest.fixture(scope="session")
def python(free_threaded: Interpreter, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment with its own pip, and the newest JAX that the package index has for it."""
    folder = tmp_path_factory.mktemp("free_threaded") / "venv"
    subprocess.run([str(free_threaded.path), "-I", "-m", "venv", str(folder)], check=True)
    made = folder / "bin/python"
    subprocess.run([str(made), "-m", "pip", "install", "--quiet", "--only-binary=:all:", "jax"], check=True)
    return made


@pytest.fixture(scope="session")
def copied(built_wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder into which the plugin was unpacked, past all installers."""
    folder = tmp_path_factory.mktemp("copied")
    (wheel,) = built_wheels.glob("jaxlib_cpu-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run(python: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a Python with another folder on its path."""
    command = [str(python), "-X", "faulthandler", *arguments]
    environ = clean_environ(PYTHONPATH=str(folder))
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


def refusal(interpreter: Interpreter) -> list[str]:
    """Return what the loader says."""
    version = f"3.{interpreter.tag.removeprefix('cp3').removesuffix('t')}"
    return [
        f"jaxlib-cpu cannot be loaded by a free-threaded Python ({version}t)",
        "it is made for the stable ABI of CPython 3.12, which a Python without the GIL does not have",
        f"use a Python with the GIL: python{version} in place of python{version}t",
    ]


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_installers_refuse_the_wheels(python: Path, built_wheels: Path, release: Release, installer: str) -> None:
    """They name the wheel that they have none of."""
    requirement = f"jaxlib-cpu=={release.set_version}"
    links = ["--no-index", "--no-deps", "--find-links", str(built_wheels), requirement]
    uv = find_uv()
    if installer == "pip":
        command = [str(python), "-m", "pip", "install", *links]
    elif uv is None:
        pytest.skip("uv is not installed")
    else:
        command = [str(uv), "pip", "install", "--no-cache", "--python", str(python), *links]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=clean_environ())
    assert result.returncode == 1, result.stdout
    words = {"pip": f"No matching distribution found for {requirement}", "uv": f"{requirement} has no wheels with a"}
    assert words[installer] in result.stderr


def test_jax_refuses_a_copied_plugin(python: Path, copied: Path, free_threaded: Interpreter) -> None:
    """The first use of JAX ends with the reason: no crash, and no other client instead."""
    assert run(python, copied.parent, "-c", "import jax; print(jax.devices())").stdout == "[CpuDevice(id=0)]\n"
    result = run(python, copied, "-c", "import jax; print(jax.devices())")
    assert (result.returncode, result.stdout) == (1, "")
    assert [line for line in refusal(free_threaded) if line not in result.stderr] == []


def test_the_status_of_a_copied_plugin(python: Path, copied: Path, free_threaded: Interpreter) -> None:
    """Said even where it would fail for another reason as well: that jaxlib is not ours."""
    result = run(python, copied, "-m", "jaxlib_cpu")
    assert (result.returncode, result.stderr) == (1, "")
    assert [line for line in refusal(free_threaded) if line not in result.stdout] == []
    verdict = f"jaxlib-cpu does not fit here. To fix it: {refusal(free_threaded)[-1]}"
    assert result.stdout.splitlines()[-1] == verdict
