# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Wheels of accelerators inside JAX that are damaged, of another build, or without what they need."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from folders import replace_file
from loader_programs import TOPOLOGY, USE_JAX, USED, VERSION, Overlay, Program, said
from pjrtwheel.backend import Backend, find_backend
from pjrtwheel.release.model import Release
from plugin_status import verdict_of

pytestmark = pytest.mark.integration


def wrong_lock(package: Path, plugin: str) -> str:
    """Make a wheel one of another build; return what it says."""
    path, other = package / "release_lock.json", "0" * 32
    lock = json.loads(path.read_bytes())
    replace_file(path, json.dumps(lock | {"lock_id": other}).encode())
    version, provider = lock["version"], lock["provider"]
    ours, theirs = f"{plugin} {version} (lock {other}, {provider})", f"(lock {lock['lock_id']}, prebuilt)"
    return f"{ours} and jaxlib {version} {theirs} are not of one build; JAX goes on without {plugin}"


def truncated_library(package: Path, plugin: str) -> str:
    """Leave only the start of the library; return what the wheel says."""
    path = package / "xla_cuda_plugin.so"
    with path.open("rb") as file:
        start = file.read(100_000)
    whole = path.stat().st_size
    replace_file(path, start)
    return f"{plugin}: the plugin library {path} is truncated: 100000 bytes of at least {whole}; JAX goes on without it"


AGAIN = f"uv pip install --force-reinstall --no-deps jaxlib=={VERSION} {{plugin}}=={VERSION}"
NOTE = "add the --find-links or --index-url that both wheels came from"


@pytest.mark.parametrize(
    ("name", "damage", "error"),
    [
        ("cuda13", wrong_lock, "LockMismatchError"),
        ("cuda13", truncated_library, "LibraryDamagedError"),
        ("tpu", wrong_lock, "LockMismatchError"),
    ],
)
def test_a_wrong_wheel_is_named_and_not_used(
    run: Program,
    changed: Callable[[str, Path], tuple[Path, Backend]],
    tmp_path: Path,
    name: str,
    damage: Callable[[Path, str], str],
    error: str,
) -> None:
    """On a machine without the hardware it is one line in the log, and an error to who wants the platform."""
    plugin, backend = changed(name, tmp_path / "plugin")
    line = damage(plugin / backend.package, backend.distribution)
    fix = AGAIN.format(plugin=backend.distribution)
    result = run(USE_JAX, plugin)
    assert (result.returncode, result.stdout) == (0, USED), result.stderr
    assert said(result) == [f"{line}. To fix it ({NOTE}): {fix}"]
    result = run(USE_JAX, plugin, JAX_PLATFORMS=backend.pjrt_name)
    assert (result.returncode, result.stdout) == (1, "")
    what, _, last = result.stderr.splitlines()[-3:]
    reason = line.partition("; JAX ")[0].removeprefix(f"{backend.distribution}: ")
    assert what == f"RuntimeError: Unable to initialize backend '{backend.pjrt_name}': {error}: {reason}"
    assert last.startswith(fix)


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
    absence = [line for line in said(result) if "no GPU kernels" in line]
    assert len(absence) == 1, result.stderr


@pytest.mark.parametrize(
    ("name", "library", "remedy"),
    [
        ("rocm7", "librocprofiler-sdk.so.1, librccl.so.1, libhipblaslt.so.1", "install ROCm 7"),
        (
            "oneapi",
            "libmpi.so.12, libhwloc.so.15, libumf.so.0",
            "uv pip install 'jaxlib-oneapi[with-oneapi]=={version}'",
        ),
    ],
)
def test_missing_libraries_are_named_all_together(
    run: Program,
    overlay: Overlay,
    python_for: Callable[[str], Path],
    release_of: Callable[[str], Release],
    root: Path,
    name: str,
    library: str,
    remedy: str,
) -> None:
    """The command that shows the status says what the plugin needs, where it was looked for, and what installs it."""
    package = find_backend(root, name).package
    status = f"import runpy; runpy.run_module({package!r}, run_name='__main__')"
    result = run(status, overlay(name), python=python_for(name))
    assert (result.returncode, said(result)) == (1, [])
    distribution, lines = find_backend(root, name).distribution, result.stdout.splitlines()
    (what,) = (line for line in lines if line.startswith("problem "))
    assert what.startswith(f"problem     {distribution} needs {library}, ")
    assert "the dynamic linker's search path" in what
    fix = remedy.format(version=release_of(name).set_version)
    assert verdict_of(result.stdout).startswith(f"{distribution} does not fit here. To fix it")
    assert lines[-1].startswith(f"To fix it: {fix}")
