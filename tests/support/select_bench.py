# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A bench for `jaxlib-select`: folders, described machines, environments, and the installers uv and pip."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from folders import installed_in, site_packages_of
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.environment.venv import create_venv, find_uv
from release_under_test import release_under_test
from small_wheels import build_wheel, describe_wheel

CPU = {"os": "linux", "arch": "x86_64"}


def _with_gpu(name: str, capability: str, arch: str = "x86_64") -> dict[str, Any]:
    gpu = {"name": name, "compute_capability": capability}
    return {**CPU, "arch": arch, "nvidia": {"cuda": "13.0", "cuinit": 0, "gpus": [gpu]}}


MACHINES = {
    "cpu": CPU,
    "h100": _with_gpu("H100", "9.0"),
    "gh200": _with_gpu("GH200", "9.0", arch="aarch64"),
    "gtx1080ti": _with_gpu("GTX 1080 Ti", "6.1"),
}
# The command line under test, in any Python that finds the package.
PROGRAM = "import sys; from jaxlib_select.cli import main; sys.exit(main())"


@dataclass(frozen=True)
class Bench:
    """Folders, and the commands under test.

    Attributes:
        folder: A fresh folder, for locks and environments.
        wheels: Every wheel there is: no index is asked.
        interpreter: For which Python.
        selector: The folder of the package under test.
        more: Further variables.
    """

    folder: Path
    wheels: Path
    interpreter: Interpreter
    selector: Path
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def environ(self) -> dict[str, str]:
        """Return an environment in which uv and pip know no index, and keep nothing of what they saw."""
        more = {"PIP_CONFIG_FILE": os.devnull, "UV_NO_CACHE": "1", "UV_OFFLINE": "1", **self.more}
        path = os.pathsep.join([str(find_uv().parent), os.environ["PATH"]])
        return clean_environ(PYTHONPATH=str(self.selector), PATH=path, **more)

    def machine(self, name: str) -> Path:
        """Return the description of a machine."""
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(MACHINES[name]))
        return path

    def check(self, lock: Path, machine: str, status: int = 0) -> str:
        """Compare a lock with a machine and with the Python of the release."""
        options = ("--machine", self.machine(machine), "--python", self.interpreter.path)
        return self.select("lock", "--check", lock, *options, status=status)

    def python(self, name: str, *, pip: bool = False) -> Path:
        """Return the Python of a fresh environment, with the pip that every Python brings or without."""
        python = create_venv(self.interpreter, self.folder / name)
        if pip:
            (wheel,) = (self.interpreter.path.parent.parent / "lib").glob("python3*/ensurepip/_bundled/pip-*.whl")
            self.pip(python, "install", "--quiet", "--no-index", wheel)
        return python

    def target(self, python: Path, machine: str, installer: str = "") -> tuple[str | Path, ...]:
        """Return the options for an environment, a machine and an installer, with the wheels of this bench."""
        named = ("--installer", installer) if installer else ()
        return ("--python", python, "--machine", self.machine(machine), *named, *self.links())

    def select(self, *arguments: str | Path, status: int = 0) -> str:
        """Run the command line under test in this Python, and return what it printed."""
        result = self.attempt(sys.executable, "-c", PROGRAM, *arguments)
        assert result.returncode == status, result.stdout + result.stderr
        return result.stdout + result.stderr

    def links(self) -> tuple[str, ...]:
        """Return the options that lead to the wheels."""
        return ("--no-index", "--find-links", str(self.wheels))

    def attempt(self, *command: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run uv, pip or Python, which may fail."""
        words, place = list(map(str, command)), folder or self.folder
        return subprocess.run(words, capture_output=True, text=True, check=False, env=self.environ, cwd=place)

    def run(self, *command: str | Path, folder: Path | None = None) -> str:
        """Run uv, pip or Python."""
        result = self.attempt(*command, folder=folder)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def uv(self, *arguments: str | Path, folder: Path | None = None) -> str:
        """Run uv."""
        return self.run(find_uv(), *arguments, folder=folder)

    def pip(self, python: Path, *arguments: str | Path) -> str:
        """Run the pip of this Python on behalf of an environment."""
        return self.run(sys.executable, "-m", "pip", "--python", python, "--no-input", *arguments)


def installed(python: Path) -> dict[str, str]:
    """Return the versions of what is installed in an environment, jaxlib's with its lock's build."""
    site = site_packages_of(python)
    found = installed_in(site)
    if "jaxlib" in found:
        lock = site / "jaxlib/release_lock.json"
        found["jaxlib"] += f"-{json.loads(lock.read_text())['build']}" if lock.exists() else "-none"
    return found


def write_wheel(folder: Path, name: str, files: Mapping[str, str], requires: Sequence[str] = ()) -> None:
    """Write a wheel with RECORD and metadata."""
    members = {path: text.encode() for path, text in files.items()}
    build_wheel(folder, {**members, **describe_wheel(name, requires)}, name=name)


RELEASE = release_under_test().version
VERSION = release_under_test().set_version
JAX = {"jax": RELEASE, "jaxlib": f"{VERSION}-1"}
BACKENDS = ("jax", "jaxlib", "jaxlib-cpu", "jaxlib-cuda-12", "jaxlib-cuda-13", "nvidia-cublas", "nvidia-cudnn-cu12")
WANTED = {
    "cuda13": JAX | {"jaxlib-cuda-13": VERSION, "nvidia-cublas": "13.1.0.3"},
    "cuda12": JAX | {"jaxlib-cuda-12": VERSION, "nvidia-cudnn-cu12": "9.28.0.1"},
    "cuda12-legacy": JAX | {"jaxlib-cuda-12": VERSION, "nvidia-cudnn-cu12": "9.10.2.21"},
    "cpu": JAX | {"jaxlib-cpu": VERSION},
}


def backends(python: Path) -> dict[str, str]:
    """Return what of JAX and its backends is installed."""
    return {name: version for name, version in installed(python).items() if name in BACKENDS}
