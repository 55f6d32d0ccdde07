# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Wheels of accelerators inside JAX, without their hardware: alone, and with other plugins for the platform."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from folders import write_dist_info
from loader_programs import ABSENT, STOPS, TOPOLOGY, USE_JAX, USED, Overlay, Program, said
from pjrtwheel.backend import find_backend
from pjrtwheel.fetch import WheelCache, cache_root, download_wheel, unpack_wheel
from pjrtwheel.release.model import Release

pytestmark = pytest.mark.integration

# Prints the file of the only library for CUDA that is open.
NAME_LIBRARY = "print([line.split()[-1] for line in open('/proc/self/maps') if 'xla_cuda_plugin.so' in line][0])"


@pytest.mark.parametrize(
    ("name", "platforms"), [*((name, "") for name in ABSENT), ("cuda13", "cuda,cpu"), ("cuda13", "cpu,cuda")]
)
def test_without_the_hardware_one_line_says_so(
    run: Program, overlay: Overlay, python_for: Callable[[str], Path], name: str, platforms: str
) -> None:
    """JAX goes on with the CPU, also where it leaves `cuda` out itself because it sees no device node."""
    result = run(USE_JAX, overlay(name), python=python_for(name), JAX_PLATFORMS=platforms)
    assert (result.returncode, result.stdout) == (0, USED), result.stderr
    assert said(result) == [f"{ABSENT[name]}; JAX goes on without it"]


@pytest.mark.parametrize("name", ["cuda13", "tpu"])
def test_a_plugin_that_is_disabled_leaves_jax_as_it_was(run: Program, overlay: Overlay, root: Path, name: str) -> None:
    """Not even that there is no such hardware is said, and the platform is unknown."""
    known = "import jax, jax._src.xla_bridge as bridge; jax.devices(); print('NAME' in bridge._backend_factories)"
    backend = find_backend(root, name)
    code = known.replace("NAME", backend.pjrt_name)
    result = run(code, overlay(name), **{backend.disable: "1"})
    assert (result.returncode, result.stdout, said(result)) == (0, f"{name == 'tpu'}\n", []), result.stderr


@pytest.mark.parametrize("name", ABSENT)
def test_who_asks_for_absent_hardware_gets_the_reason(
    run: Program, overlay: Overlay, python_for: Callable[[str], Path], root: Path, name: str
) -> None:
    """It is an error then, and not a fall back."""
    platform = find_backend(root, name).pjrt_name
    result = run(USE_JAX, overlay(name), python=python_for(name), JAX_PLATFORMS=platform)
    assert (result.returncode, result.stdout) == (1, "")
    first, *_, last = said(result)
    assert first == f"{ABSENT[name]}; {STOPS.format(platform)}"
    refusal = f"Unable to initialize backend '{platform}': NoDeviceError: {ABSENT[name].partition(': ')[2]} "
    assert last.startswith(f"RuntimeError: {refusal}")


@pytest.mark.parametrize("environ", [{}, {"JAX_PLATFORMS": "cpu"}], ids=["default", "CPU only"])
def test_programs_can_be_compiled_for_a_gpu_elsewhere(run: Program, overlay: Overlay, environ: dict[str, str]) -> None:
    """The library of this very wheel describes the devices, and JAX still runs on the CPU."""
    mosaic = "import os; print(os.environ['MOSAIC_GPU_RUNTIME_LIB_PATH'])"
    result = run(f"{TOPOLOGY}\n{NAME_LIBRARY}\n{mosaic}\n{USE_JAX}", overlay("cuda13"), **environ)
    assert result.returncode == 0, result.stderr
    package = overlay("cuda13") / "jaxlib_cuda_13"
    assert result.stdout == f"{package}/xla_cuda_plugin.so\n{package}_kernels/libmosaic_gpu_runtime.so\n{USED}"


def test_a_plugin_that_is_opened_late_joins_in(run: Program, overlay: Overlay) -> None:
    """Callbacks for every plugin get it, and so do those that are registered later."""
    code = (
        "import jax, jax._src.xla_bridge as bridge\n"
        "seen = []; bridge.register_plugin_callbacks(lambda c_api: seen.append(c_api))\n"
        f"{TOPOLOGY}\n"
        "bridge.register_plugin_callbacks(lambda c_api: seen.append(c_api))\n"
        "print([str(api).split()[2] for api in seen].count('\"pjrt_c_api\"'), len(seen), len(set(map(id, seen))))"
    )
    # The CPU's plugin takes part both times as well.
    result = run(code, overlay("cuda13"))
    assert (result.returncode, result.stdout) == (0, "4 4 2\n"), result.stderr


def test_upstreams_plugin_in_addition_to_ours(
    run: Program, overlay: Overlay, release: Release, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Ours leaves the platform to it, says so once with both commands, and it works."""
    wheel = WheelCache(cache_root(os.environ), download_wheel).fetch(release.pin("plugin.cuda13.linux_x86_64"))
    upstream = tmp_path_factory.mktemp("upstream")
    unpack_wheel(wheel, upstream, ["*"])
    # Upstream's own check would fail here for want of a GPU, with a traceback that is not ours.
    environ = {"JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1"}
    result = run(f"{TOPOLOGY}\n{NAME_LIBRARY}\n{USE_JAX}", overlay("cuda13"), upstream, **environ)
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"{upstream}/jax_plugins/xla_cuda13/xla_cuda_plugin.so\n{USED}"
    (line,) = said(result)
    assert line.startswith("jaxlib-cuda-13 is not used: ")
    assert "uv pip uninstall jaxlib-cuda-13 jaxlib-cuda-13-kernels)" in line
    assert line.endswith("uv pip uninstall jax-cuda13-pjrt jax-cuda13-plugin")


def test_two_of_our_wheels_for_one_platform(run: Program, overlay: Overlay) -> None:
    """The newer one serves, whose kernels JAX takes as well, and the other says so once."""
    result = run(f"{TOPOLOGY}\n{NAME_LIBRARY}\n{USE_JAX}", overlay("cuda12"), overlay("cuda13"))
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"{overlay('cuda13')}/jaxlib_cuda_13/xla_cuda_plugin.so\n{USED}"
    (line,) = said(result)
    assert line.startswith("jaxlib-cuda-12 is not used: ")
    assert line.endswith("uv pip uninstall jaxlib-cuda-13 jaxlib-cuda-13-kernels")
    result = run(USE_JAX, overlay("cuda12"), overlay("cuda13"), JAX_PLATFORMS="cuda")
    assert f"{ABSENT['cuda13']}; {STOPS.format('cuda')}" in said(result)


@pytest.mark.parametrize("libtpu", [None, "0.0.1", "VERSION"], ids=["missing", "wrong", "right"])
def test_the_tpus_library_must_be_the_one_of_the_release(
    run: Program, overlay: Overlay, release: Release, tmp_path: Path, libtpu: str | None
) -> None:
    """Without a TPU that is a warning; libtpu itself is never started, and nothing is registered."""
    version = release.pin("plugin.tpu.linux_x86_64").version
    if libtpu is not None:
        write_dist_info(tmp_path / "site", "libtpu", libtpu.replace("VERSION", version))
    result = run(USE_JAX, overlay("tpu"), tmp_path / "site")
    assert (result.returncode, result.stdout) == (0, USED), result.stderr
    (line,) = said(result)
    assert ("no TPU found" if libtpu == "VERSION" else f"uv pip install libtpu=={version}") in line
