# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Wheels of accelerators inside JAX that are damaged, of another build, or without what they need."""

from collections.abc import Callable
from pathlib import Path

import pytest

from folders import cut_file, rewrite_lock
from loader_programs import TOPOLOGY, USE_JAX, USED, VERSION, Overlay, Program, said
from pjrtwheel.backend import Backend, find_backend

pytestmark = pytest.mark.integration


def wrong_lock(package: Path) -> None:
    """Make a wheel one of another build."""
    rewrite_lock(package / "release_lock.json", lock_id="0" * 32)


@pytest.mark.parametrize(
    ("name", "damage", "error", "named"),
    [
        ("cuda13", wrong_lock, "LockMismatchError", "0" * 32),
        (
            "cuda13",
            lambda package: cut_file(package / "xla_cuda_plugin.so"),
            "LibraryDamagedError",
            "xla_cuda_plugin.so",
        ),
        ("tpu", wrong_lock, "LockMismatchError", "0" * 32),
    ],
    ids=["lock", "library", "lock of TPU"],
)
def test_a_wrong_wheel_is_named_and_not_used(
    run: Program,
    changed: Callable[[str, Path], tuple[Path, Backend]],
    tmp_path: Path,
    name: str,
    damage: Callable[[Path], None],
    error: str,
    named: str,
) -> None:
    """On a machine without the hardware it is one line in the log, and an error to who wants the platform."""
    plugin, backend = changed(name, tmp_path / "plugin")
    damage(plugin / backend.package)
    pins = " ".join(f"{name}=={VERSION}" for name in ("jaxlib", *backend.distributions))
    fix = f"uv pip install --force-reinstall --no-deps {pins}"
    result = run(USE_JAX, plugin)
    assert (result.returncode, result.stdout) == (0, USED), result.stderr
    (line,) = said(result)
    assert (named in line, "JAX goes on without" in line, line.endswith(fix)) == (True, True, True)
    result = run(USE_JAX, plugin, JAX_PLATFORMS=backend.pjrt_name)
    assert (result.returncode, result.stdout) == (1, "")
    what, _, last = result.stderr.splitlines()[-3:]
    assert (f": {error}: " in what, named in what, last.startswith(fix)) == (True, True, True)


def test_a_python_without_kernels(
    run: Program,
    changed: Callable[[str, Path], tuple[Path, Backend]],
    compile_library: Callable[..., Path],
    root: Path,
    tmp_path: Path,
) -> None:
    """The plugin says so once and works; targets of users' own reach it through the stable-ABI extension."""
    plugin, backend = changed("cuda13", tmp_path / "plugin")
    assert backend.kernels is not None
    for module in (plugin / backend.kernels.package).iterdir():
        module.unlink()
    library = compile_library("cuda_counter.so", "-fvisibility=default", root / "tests/data/ffi_counter.c")
    code = f"""
{TOPOLOGY}
import ctypes, jax
library = ctypes.CDLL({str(library)!r})
stages = {{stage: jax.ffi.pycapsule(getattr(library, 'counter_' + stage)) for stage in ('instantiate', 'execute')}}
jax.ffi.register_ffi_target('counter', stages, platform='CUDA')
try:
    jax.ffi.register_ffi_target('counter', {{'execute': stages['execute']}}, platform='CUDA')
except Exception as error:
    print(type(error).__name__, 'cannot register a custom call' in str(error))
"""
    result = run(code, plugin)
    assert (result.returncode, result.stdout) == (0, "PjrtError True\n"), result.stderr
    assert len([line for line in said(result) if "no GPU kernels" in line]) == 1, result.stderr


@pytest.mark.parametrize(
    ("name", "libraries", "fix"),
    [
        ("rocm7", "librocprofiler-sdk.so.1, librccl.so.1, libhsa-runtime64.so.1", "install ROCm 7"),
        ("oneapi", "libmpi.so.12, libhwloc.so.15, libumf.so.0", "uv pip install 'jaxlib-oneapi[with-oneapi]=="),
    ],
)
def test_missing_libraries_are_named_all_together(
    run: Program, overlay: Overlay, python_for: Callable[[str], Path], root: Path, name: str, libraries: str, fix: str
) -> None:
    """The command that shows the status says what the plugin needs, where it was looked for, and what installs it."""
    backend = find_backend(root, name)
    status = f"import runpy; runpy.run_module({backend.package!r}, run_name='__main__')"
    result = run(status, overlay(name), python=python_for(name))
    assert (result.returncode, said(result)) == (1, [])
    lines = result.stdout.splitlines()
    (what,) = (line for line in lines if line.startswith("problem "))
    assert (f"{backend.distribution} needs {libraries}, " in what, "linker's search path" in what) == (True, True)
    assert lines[-1].startswith(f"To fix it: {fix}")
