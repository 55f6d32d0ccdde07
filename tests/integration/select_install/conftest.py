# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Benches for `jaxlib-select install`, `lock` and `apply` with the real uv and the real pip.

The machines are described by files. Most packages are small ones, made here with the names and the metadata of the real
ones: what installers do does not depend on their size. Where JAX runs, it is the real one with our real wheels.
"""

import os
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from console_blocks import shown
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.venv import requirement_group, wheelhouse
from pjrtwheel.fetch import cache_root
from pjrtwheel.release.model import Release
from pjrtwheel.release.wheels import ReleaseLock
from pjrtwheel.wheel.names import parse_name
from select_bench import Bench, write_wheel


def write_gpu_wheels(folder: Path, version: str, lock: str) -> None:
    """Write small packages with the names and metadata of those for CUDA, and of the NVIDIA packages they ask for."""
    for major, cudnn in (("12", "nvidia-cudnn-cu12>=9.8,<10"), ("13", "nvidia-cublas>=13.0,<14")):
        package = f"jaxlib_cuda_{major}"
        files = {
            f"{package}/__init__.py": "def initialize(): pass\n",
            f"{package}/release_lock.json": lock,
            f"{package}-{version}.dist-info/entry_points.txt": f"[jax_plugins]\ncuda{major} = {package}\n",
        }
        requires = [f"jaxlib=={version}", f"{cudnn}; extra == 'with-cuda'"]
        write_wheel(folder, f"{package}-{version}-cp312-abi3-manylinux_2_27_x86_64.whl", files, requires)
    for name in ("nvidia_cudnn_cu12-9.10.2.21", "nvidia_cudnn_cu12-9.28.0.1", "nvidia_cublas-13.1.0.3"):
        write_wheel(folder, f"{name}-py3-none-manylinux_2_27_x86_64.whl", {f"nvidia/{name}.txt": ""})


def write_jax_wheels(folder: Path, release: str, version: str, tag: str, lock: str) -> None:
    """Write a small JAX, and two jaxlibs of one release: ours with a label and a lock, upstream's without."""
    minimum = {"jax/version.py": f'_minimum_jaxlib_version = "{release}"\n'}
    write_wheel(folder, f"jax-{release}-py3-none-any.whl", minimum, [f"jaxlib<={release},>={release}", "ml_dtypes"])
    write_wheel(folder, "ml_dtypes-0.6.0-py3-none-any.whl", {"ml_dtypes/__init__.py": ""})
    upstream = {"jaxlib/__init__.py": ""}
    ours = {**upstream, "jaxlib/release_lock.json": lock}
    write_wheel(folder, f"jaxlib-{version}-{tag}-{tag}-manylinux_2_27_x86_64.whl", ours)
    write_wheel(folder, f"jaxlib-{release}-{tag}-{tag}-manylinux_2_27_x86_64.whl", upstream)
    cpu = f"jaxlib_cpu-{version}-cp312-abi3-manylinux_2_27_x86_64.whl"
    write_wheel(folder, cpu, {"jaxlib_cpu/release_lock.json": lock}, [f"jaxlib=={version}"])


@pytest.fixture(scope="session")
def small_wheels(release: Release, interpreter: Interpreter, session_folder: Path) -> Path:
    """Return a folder with small packages for everything."""
    folder = session_folder / "small wheels"
    folder.mkdir()
    version = release.set_version
    lock = ReleaseLock(release.version, version, 1, "none", "0" * 32).to_json()
    write_jax_wheels(folder, release.version, version, interpreter.tag, lock)
    write_gpu_wheels(folder, version, lock)
    return folder


@pytest.fixture(scope="session")
def real_wheels(
    built_wheels: Path, root: Path, release: Release, interpreter: Interpreter, session_folder: Path
) -> Path:
    """Return a folder with our real wheels, everything they need, and small accelerator packages."""
    folder = session_folder / "real wheels"
    folder.mkdir()
    ours = [wheel for wheel in built_wheels.glob("*.whl") if parse_name(wheel.name).fits(interpreter.tag)]
    ours = [wheel for wheel in ours if wheel.name.startswith(("jaxlib-", "jaxlib_cpu-"))]
    requirements = [f"jax=={release.version}", *requirement_group(root, "smoke")]
    required = wheelhouse(interpreter, requirements, ours, cache_root(os.environ))
    for wheel in (*ours, *required.glob("*.whl")):
        (folder / wheel.name).symlink_to(wheel.resolve())
    with zipfile.ZipFile(next(wheel for wheel in ours if wheel.name.startswith("jaxlib_cpu-"))) as archive:
        lock = archive.read("jaxlib_cpu/release_lock.json").decode()
    write_gpu_wheels(folder, release.set_version, lock)
    return folder


@pytest.fixture(scope="session")
def selector(root: Path, release: Release, session_folder: Path) -> Path:
    """Return a copy of the package under test that knows one release, whatever was built since."""
    copy = session_folder / "selector"
    shutil.copytree(root / "selector", copy, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (copy / "jaxlib_select/facts").glob("[0-9]*.json"):
        if path.stem != release.version:
            path.unlink()
    return copy


@pytest.fixture
def bench(small_wheels: Path, interpreter: Interpreter, selector: Path, tmp_path: Path) -> Bench:
    """Return a fresh bench with small packages."""
    return Bench(tmp_path, small_wheels, interpreter, selector)


@pytest.fixture
def real_bench(real_wheels: Path, bench: Bench) -> Bench:
    """Return a fresh bench with our real wheels."""
    return replace(bench, wheels=real_wheels)


@pytest.fixture(params=["uv", "pip"])
def locked(request: pytest.FixtureRequest, root: Path, bench: Bench) -> Path:
    """Return a lock for an H100 and for other machines, resolved by uv and by pip."""
    target = bench.target(bench.python("resolving", pip=request.param == "pip"), "h100", request.param)
    said = bench.select("lock", "jax", "--groups", "cpu,cuda12", "-o", "pylock.toml", *target)
    assert shown(root / "selector/README.md", "jaxlib-select lock jax -o") in said
    assert f"resolving cuda12-legacy with {request.param} ..." in said
    return bench.folder / "pylock.toml"
