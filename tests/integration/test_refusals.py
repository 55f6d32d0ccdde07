# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Pairs that do not belong together are refused: by name, with the command that fixes it, and never in silence."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from console_blocks import matches, shown
from folders import cut_file, replace_file, rewrite_lock, site_packages_of
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.venv import install
from pjrtwheel.fetch import WheelCache, cache_root, download_wheel
from pjrtwheel.release.model import Release
from programs import run_code
from release_under_test import ROOT, release_under_test

pytestmark = pytest.mark.integration

USE_JAX = "import jax; print(jax.devices()); print(float(jax.numpy.ones(3).sum()))"
VERSION = release_under_test().set_version
REMEDY = f"uv pip install --force-reinstall --no-deps jaxlib=={VERSION} jaxlib-cpu=={VERSION}"


@pytest.fixture
def python(make_environment: Callable[[Path], Path], tmp_path: Path) -> Path:
    """Return the Python of an environment that this test may damage."""
    return make_environment(tmp_path)


def run(python: Path, folder: Path, code: str = USE_JAX) -> subprocess.CompletedProcess[str]:
    """Run code as a user would, from an empty directory."""
    return run_code(python, code, folder=folder / "work")


def other_version(site: Path) -> None:
    """Make the plugin one of another release."""
    rewrite_lock(site / "jaxlib_cpu" / "release_lock.json", release="1.2.3", version="1.2.3")
    metadata = next(site.glob("jaxlib_cpu-*.dist-info")) / "METADATA"
    replace_file(metadata, metadata.read_bytes().replace(f"Version: {VERSION}".encode(), b"Version: 1.2.3"))


def other_lock(site: Path) -> None:
    """Make the plugin one of another build of the same release."""
    rewrite_lock(site / "jaxlib_cpu" / "release_lock.json", lock_id="0" * 32)


@pytest.mark.parametrize(
    ("damage", "error", "remedy"),
    [
        (other_version, "VersionMismatchError", REMEDY.replace(VERSION, "1.2.3")),
        (other_lock, "LockMismatchError", REMEDY),
        (lambda site: cut_file(site / "jaxlib_cpu/pjrt_c_api_cpu_plugin.so"), "LibraryDamagedError", REMEDY),
        (lambda site: (site / "jaxlib_cpu/pjrt/_pjrt.abi3.so").unlink(), "LibraryDamagedError", REMEDY),
    ],
    ids=["other version", "other lock", "half a library", "no extension"],
)
def test_a_wrong_plugin_is_refused(
    python: Path, tmp_path: Path, damage: Callable[[Path], None], error: str, remedy: str
) -> None:
    """The first use of JAX ends with the named error and its remedy: no crash, and no other client instead."""
    damage(site_packages_of(python))
    result = run(python, tmp_path)
    assert (result.returncode, result.stdout) == (1, ""), result.stderr
    assert (error in result.stderr, remedy in result.stderr) == (True, True)


def test_upstream_jaxlib_is_refused(python: Path, tmp_path: Path, release: Release, interpreter: Interpreter) -> None:
    """The jaxlib of the package index has the same version and no lock."""
    wheel = WheelCache(cache_root(os.environ), download_wheel).fetch(
        release.pin(f"bindings.{interpreter.tag}.linux_x86_64")
    )
    site = site_packages_of(python)
    shutil.rmtree(site / "jaxlib")
    shutil.rmtree(next(site.glob("jaxlib-*.dist-info")))
    install(python, ["--no-deps", str(wheel)], [])
    result = run(python, tmp_path)
    assert (result.returncode, result.stdout) == (1, ""), result.stderr
    assert ("LockMissingError" in result.stderr, REMEDY in result.stderr) == (True, True)
    result = run(python, tmp_path, "import runpy; runpy.run_module('jaxlib_cpu', run_name='__main__')")
    block = shown(ROOT / "README.md", "python -m jaxlib_cuda_13").replace("cuda-13", "cpu")
    assert matches(block, result.stdout.strip()), result.stdout


def test_a_missing_jaxlib_is_named(python: Path, tmp_path: Path) -> None:
    """JAX itself refuses to be imported; the plugin, asked directly, says what to install."""
    site = site_packages_of(python)
    shutil.rmtree(site / "jaxlib")
    shutil.rmtree(next(site.glob("jaxlib-*.dist-info")))
    result = run(python, tmp_path)
    assert (result.returncode, "jax requires jaxlib to be installed" in result.stderr) == (1, True)
    result = run(python, tmp_path, "import jaxlib_cpu; jaxlib_cpu.initialize()")
    assert (result.returncode, result.stdout) == (1, "")
    assert ("JaxlibMissingError" in result.stderr, REMEDY in result.stderr) == (True, True)


def test_a_plugin_that_is_disabled_leaves_jax_as_it_was(python: Path, tmp_path: Path) -> None:
    """A user who is stuck with a wrong pair can disable the plugin, and JAX runs on its own client."""
    other_lock(site_packages_of(python))
    result = run(python, tmp_path, f"import os; os.environ['JAXLIB_CPU_DISABLE'] = '1'; {USE_JAX}")
    assert (result.returncode, result.stdout) == (0, "[CpuDevice(id=0)]\n3.0\n"), result.stderr
