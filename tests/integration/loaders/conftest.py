# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The wheels of accelerators, each unpacked into a folder of its own.

Programs put those they want in front of their search path: so one environment serves all tests, with any set of
plugins.
"""

import functools
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from loader_programs import Overlay, Program, put
from pjrtwheel.backend import Backend, find_backend
from pjrtwheel.fetch import unpack_wheel
from programs import run_code


@pytest.fixture(scope="session")
def overlay(backend_wheels: Callable[[str], Path], root: Path, session_folder: Path) -> Overlay:
    """Return a function: a backend → the folder with its unpacked wheels, those of kernels for all Pythons."""

    @functools.cache
    def unpack(name: str) -> Path:
        folder = session_folder / f"overlay_{name}"
        for wheel in backend_wheels(name).glob(f"{find_backend(root, name).package}[-_]*.whl"):
            unpack_wheel(wheel, folder, ["*"])
        return folder

    return unpack


@pytest.fixture(scope="session")
def changed(overlay: Overlay, root: Path) -> Callable[[str, Path], tuple[Path, Backend]]:
    """Return a function: a backend and an empty folder → a cheap copy of its wheel there, to damage."""

    def copy(name: str, folder: Path) -> tuple[Path, Backend]:
        for path in overlay(name).rglob("*"):
            target = folder / path.relative_to(overlay(name))
            if path.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.hardlink_to(path)
        return folder, find_backend(root, name)

    return copy


@pytest.fixture
def run(wheel_python: Path, tmp_path: Path) -> Program:
    """Return a function: code, folders with plugins, environment → the process that ran it from an empty folder."""

    def start(
        code: str, *plugins: Path, inside: Sequence[str] = (), python: Path = wheel_python, **environ: str
    ) -> subprocess.CompletedProcess[str]:
        path = f"import sys; sys.path[:0] = {[str(plugin) for plugin in plugins]!r}\n"
        return run_code(python, path + code, folder=tmp_path / "work", inside=inside, environ=environ)

    return start


@pytest.fixture(scope="session")
def nvidia(root: Path, compile_library: Callable[..., Path]) -> Callable[..., Path]:
    """Return a function: options → a mock of any of NVIDIA's libraries; see tests/data/fake_cuda.c."""

    @functools.cache
    def compile_cuda(soname: str, version: int = 0) -> Path:
        source = root / "tests/data/fake_cuda.c"
        return compile_library(f"{version}_{soname}", source, f"-DVERSION={version}", f"-Wl,-soname,{soname}")

    return compile_cuda


@pytest.fixture(scope="session")
def nvidia_wheels(nvidia: Callable[..., Path], session_folder: Path) -> Path:
    """Return a folder like site-packages with NVIDIA's libraries of CUDA 13, as far as their versions are checked."""
    folder = session_folder / "nvidia"
    for library in ("libcudart.so.13", "libcublas.so.13", "libcupti.so.13", "libcusparse.so.12", "libcufft.so.12"):
        put(nvidia(library), folder / "nvidia/cu13/lib" / library)
    put(nvidia("libcudnn.so.9"), folder / "nvidia/cudnn/lib/libcudnn.so.9")
    return folder


@pytest.fixture(scope="session")
def namespace() -> list[str]:
    """Return a command that runs another where there is a device node of NVIDIA's, for that command only."""
    script = (
        "set -e; mount --rbind /dev /mnt; mount -t tmpfs none /dev; "
        "for node in null zero full random urandom shm fd; do ln -s /mnt/$node /dev/$node; done; touch /dev/nvidiactl; "
        'exec "$@"'
    )
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
    if shutil.which("unshare") is None or subprocess.run([*command, "true"], check=False).returncode != 0:
        pytest.skip("this machine does not allow a namespace of file systems")
    return command


@pytest.fixture
def on_machine(
    run: Program, overlay: Overlay, nvidia: Callable[..., Path], namespace: list[str], tmp_path: Path
) -> Program:
    """Return a function: code, folders, what the mock driver answers → the process where NVIDIA has a device."""

    def start(code: str, *plugins: Path, **environ: str) -> subprocess.CompletedProcess[str]:
        put(nvidia("libcuda.so.1"), tmp_path / "driver/libcuda.so.1")
        variables = {"LD_LIBRARY_PATH": str(tmp_path / "driver"), **environ}
        return run(code, overlay("cuda13"), *plugins, inside=namespace, **variables)

    return start
