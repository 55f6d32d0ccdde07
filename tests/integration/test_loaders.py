# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The accelerators' wheels inside JAX: what is said and what works where their hardware, libraries or partners are not.

Each wheel is unpacked into a folder of its own, and programs put those they want in front of their search path: so one
environment serves all tests, with any set of plugins.
"""

from __future__ import annotations

import ast
import functools
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from folders import replace_file
from pjrtwheel.backend import Backend, find_backend
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.fetch import WheelCache, cache_root, download_wheel, unpack_wheel
from pjrtwheel.release.model import Release
from release_under_test import release_under_test

pytestmark = pytest.mark.integration

Overlay = Callable[[str], Path]
Program = Callable[..., subprocess.CompletedProcess[str]]

VERSION = release_under_test().set_version

USE_JAX = "import jax; print([device.platform for device in jax.devices()], float(jax.numpy.ones(3).sum()))"
USED = "['cpu'] 3.0\n"

TOPOLOGY = """
from jax.experimental import topologies
target = '''
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 core_count: 132
  cuda_compute_capability { major: 9 minor: 0 }
}
platform_name: "CUDA"
'''
(device,) = topologies.get_topology_desc('', 'cuda', topology='1x1x1', target_config=target).devices
"""

# Where each accelerator was looked for; none of them is on machines that build wheels.
ABSENT = {
    "cuda13": "jaxlib-cuda-13: no NVIDIA GPU found (looked for /dev/nvidia0, /dev/nvidiactl, /dev/dxg)",
    "rocm7": "jaxlib-rocm-7: no AMD GPU found (looked in /sys/class/kfd/kfd/topology/nodes and for /dev/dxg)",
    "oneapi": "jaxlib-oneapi: no Intel GPU found (looked in /sys/class/drm and for /dev/dxg)",
}

STOPS = "JAX cannot go on, because JAX_PLATFORMS (jax_platforms) is '{}': set it to 'cpu', or leave it empty"

WITHOUT_LIBTPU = "JAX goes on without jaxlib-tpu. To fix it: pip install libtpu==VERSION"

NOT_USED = "{ours} is not used: {other} is for JAX's platform 'cuda' as well, and JAX can take only one"

# JAX believes that there is a GPU; creating the client, which needs a real one, is left out and shows its arguments.
PRETEND = """
import dataclasses, jax, jaxlib_cuda_13
from jax._src import distributed, xla_bridge
jaxlib_cuda_13.ACCELERATOR = dataclasses.replace(jaxlib_cuda_13.ACCELERATOR, find_device=lambda: None)
jaxlib_cuda_13.ACCELERATOR.check.__self__.driver = jaxlib_cuda_13.cuda.driver.Driver(13000, (90,))
jax.config.update("jax_cuda_visible_devices", "0,2")
jax.devices()
xla_bridge.xla_client.make_c_api_client = lambda name, options, *_: print(name, options)
registration = xla_bridge._backend_factories["cuda"]
print(registration.priority, registration.fail_quietly, registration.experimental, registration.c_api is not None)
try:
    registration.factory()
    distributed.global_state.client, distributed.global_state.process_id = True, 3
    distributed.global_state.num_processes = 4
    registration.factory()
except RuntimeError as error:
    print(error)
distributed.global_state.client = None
"""

# What a program does that believes in a GPU, up to the checks before the first client.
BELIEVE = """
import jax, jaxlib_cuda_13
from jaxlib_cuda_13.cuda.driver import Driver
cuda = jaxlib_cuda_13.ACCELERATOR.check.__self__
cuda.driver = Driver(13000, (90,))
try:
    cuda.check()
except RuntimeError as error:
    print(error)
"""


@pytest.fixture(scope="session")
def overlay(backend_wheels: Callable[[str], Path], root: Path, tmp_path_factory: pytest.TempPathFactory) -> Overlay:
    """Return a function: a backend → the folder with its unpacked wheel."""

    @functools.cache
    def unpack(name: str) -> Path:
        (wheel,) = backend_wheels(name).glob(f"{find_backend(root, name).package}-*.whl")
        folder = tmp_path_factory.mktemp(f"overlay_{name}")
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
        work = tmp_path / "work"
        work.mkdir(exist_ok=True)
        path = f"import sys; sys.path[:0] = {[str(plugin) for plugin in plugins]!r}\n"
        return subprocess.run(
            [*inside, str(python), "-I", "-c", path + code],
            cwd=work,
            env=clean_environ(**environ),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return start


def said(result: subprocess.CompletedProcess[str]) -> list[str]:
    """Return what a program printed as warnings, without what NVIDIA's kernels say where there is no CUDA runtime."""
    own = ("WARNING: All log messages before absl", "I0000")
    return [line for line in result.stderr.splitlines() if not line.startswith(own)]


@pytest.mark.parametrize("name", ABSENT)
def test_without_the_hardware_one_line_says_so(
    run: Program, overlay: Overlay, python_for: Callable[[str], Path], name: str
) -> None:
    """JAX goes on with the CPU."""
    result = run(USE_JAX, overlay(name), python=python_for(name))
    assert (result.returncode, result.stdout) == (0, USED), result.stderr
    assert said(result) == [f"{ABSENT[name]}; JAX goes on without it"]


@pytest.mark.parametrize("name", ["cuda13", "tpu"])
def test_who_asked_for_the_cpu_hears_nothing(run: Program, overlay: Overlay, name: str) -> None:
    """The accelerator is no matter of this program."""
    result = run(USE_JAX, overlay(name), JAX_PLATFORMS="cpu")
    assert (result.returncode, result.stdout) == (0, USED), result.stderr
    assert said(result) == []


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
    assert last == f"RuntimeError: {refusal}(set JAX_PLATFORMS='' to automatically choose an available backend)"


@pytest.mark.parametrize("platforms", ["cuda,cpu", "cpu,cuda"])
def test_who_names_another_platform_as_well_goes_on(run: Program, overlay: Overlay, platforms: str) -> None:
    """JAX leaves `cuda` out where it sees no device node, and so it is said."""
    result = run(USE_JAX, overlay("cuda13"), JAX_PLATFORMS=platforms)
    assert (result.returncode, result.stdout) == (0, USED), result.stderr
    assert said(result) == [f"{ABSENT['cuda13']}; JAX goes on without it"]


def test_who_changes_the_choice_after_that_goes_on(run: Program, overlay: Overlay) -> None:
    """JAX is made to ask only for as long as nothing else is asked for."""
    code = (
        "import jax\ntry:\n    jax.devices()\nexcept RuntimeError as error:\n    print(type(error).__name__)\n"
        "jax.config.update('jax_platforms', '')\nprint([device.platform for device in jax.devices()])"
    )
    result = run(code, overlay("cuda13"), JAX_PLATFORMS="cuda")
    assert (result.returncode, result.stdout) == (0, "RuntimeError\n['cpu']\n"), result.stderr
    assert said(result) == [f"{ABSENT['cuda13']}; {STOPS.format('cuda')}"]


@pytest.mark.parametrize("environ", [{}, {"JAX_PLATFORMS": "cpu"}], ids=["default", "CPU only"])
def test_programs_can_be_compiled_for_a_gpu_elsewhere(run: Program, overlay: Overlay, environ: dict[str, str]) -> None:
    """The library of this very wheel describes the devices, and JAX still runs on the CPU."""
    library = "print([line.split()[-1] for line in open('/proc/self/maps') if 'xla_cuda_plugin.so' in line][0])"
    mosaic = "import os; print(os.environ['MOSAIC_GPU_RUNTIME_LIB_PATH'])"
    result = run(f"{TOPOLOGY}\n{library}\n{mosaic}\n{USE_JAX}", overlay("cuda13"), **environ)
    assert result.returncode == 0, result.stderr
    package = overlay("cuda13") / "jaxlib_cuda_13"
    assert result.stdout == f"{package}/xla_cuda_plugin.so\n{package}/libmosaic_gpu_runtime.so\n{USED}"


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
    library = "print([line.split()[-1] for line in open('/proc/self/maps') if 'xla_cuda_plugin.so' in line][0])"
    # Upstream's own check would fail here for want of a GPU, with a traceback that is not ours.
    environ = {"JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1"}
    result = run(f"{TOPOLOGY}\n{library}\n{USE_JAX}", overlay("cuda13"), upstream, **environ)
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"{upstream}/jax_plugins/xla_cuda13/xla_cuda_plugin.so\n{USED}"
    choice = "pip uninstall jax-cuda13-pjrt jax-cuda13-plugin, or: pip uninstall jaxlib-cuda-13"
    refusal = NOT_USED.format(ours="jaxlib-cuda-13", other="jax-cuda13-pjrt")
    assert said(result) == [f"{refusal}. To fix it: keep one of them: {choice}"]


def test_two_of_our_wheels_for_one_platform(run: Program, overlay: Overlay) -> None:
    """The newer one serves, whose kernels JAX takes as well, and the other says so once."""
    library = "print([line.split()[-1] for line in open('/proc/self/maps') if 'xla_cuda_plugin.so' in line][0])"
    result = run(f"{TOPOLOGY}\n{library}\n{USE_JAX}", overlay("cuda12"), overlay("cuda13"))
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"{overlay('cuda13')}/jaxlib_cuda_13/xla_cuda_plugin.so\n{USED}"
    choice = "pip uninstall jaxlib-cuda-13, or: pip uninstall jaxlib-cuda-12"
    refusal = NOT_USED.format(ours="jaxlib-cuda-12", other="jaxlib-cuda-13")
    assert said(result) == [f"{refusal}. To fix it: keep one of them: {choice}"]
    result = run(USE_JAX, overlay("cuda12"), overlay("cuda13"), JAX_PLATFORMS="cuda")
    assert f"{ABSENT['cuda13']}; {STOPS.format('cuda')}" in said(result)


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


AGAIN = (
    f"pip install --force-reinstall --no-deps jaxlib=={VERSION} {{plugin}}=={VERSION} "
    "(with the --find-links or --index-url that both wheels came from)"
)


@pytest.mark.parametrize(
    ("name", "damage", "remedy", "error"),
    [
        ("cuda13", wrong_lock, "install a matching pair", "LockMismatchError"),
        ("cuda13", truncated_library, "install it again", "LibraryDamagedError"),
        ("tpu", wrong_lock, "install a matching pair", "LockMismatchError"),
    ],
)
def test_a_wrong_wheel_is_named_and_not_used(
    run: Program,
    changed: Callable[[str, Path], tuple[Path, Backend]],
    tmp_path: Path,
    name: str,
    damage: Callable[[Path, str], str],
    remedy: str,
    error: str,
) -> None:
    """On a machine without the hardware it is one line in the log, and an error to who wants the platform."""
    plugin, backend = changed(name, tmp_path / "plugin")
    line = damage(plugin / backend.package, backend.distribution)
    fix = f"{remedy}: {AGAIN.format(plugin=backend.distribution)}"
    result = run(USE_JAX, plugin)
    assert (result.returncode, result.stdout) == (0, USED), result.stderr
    assert said(result) == [f"{line}. To fix it: {fix}"]
    result = run(USE_JAX, plugin, JAX_PLATFORMS=backend.pjrt_name)
    assert (result.returncode, result.stdout) == (1, "")
    what, _, last = result.stderr.splitlines()[-3:]
    reason = line.partition("; JAX ")[0].removeprefix(f"{backend.distribution}: ")
    assert what == f"RuntimeError: Unable to initialize backend '{backend.pjrt_name}': {error}: {reason}"
    assert last.startswith(fix)


def test_a_wrong_wheel_that_was_asked_for_stops_jax(
    run: Program, changed: Callable[[str, Path], tuple[Path, Backend]], tmp_path: Path
) -> None:
    """The line says so, and what to set; a topology fails with all that is to be said."""
    plugin, backend = changed("cuda13", tmp_path / "plugin")
    what = wrong_lock(plugin / backend.package, backend.distribution).partition("; ")[0]
    fix = f"install a matching pair: {AGAIN.format(plugin=backend.distribution)}"
    line, *_ = said(run(USE_JAX, plugin, JAX_PLATFORMS="cuda"))
    assert line == f"{what}; {STOPS.format('cuda')}. To fix it: {fix}"
    result = run(TOPOLOGY, plugin)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.splitlines()[-3:] == [
        f"jaxlib_cuda_13.pjrt.errors.LockMismatchError: LockMismatchError: {what}",
        "the versions are equal, but the two wheels were built from different inputs",
        fix,
    ]


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
        ("oneapi", "libmpi.so.12, libhwloc.so.15, libumf.so.0", "pip install 'jaxlib-oneapi[with-oneapi]=={version}'"),
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
    assert lines[-1].startswith(f"{distribution} does not fit here. To fix it: {fix}")


def add_unchecked_libraries(nvidia: Callable[..., Path], folder: Path) -> None:
    """Add what JAX starts without: NVIDIA's libraries whose versions are not checked, for one GPU."""
    for library in ("libnvrtc.so.13", "libnvJitLink.so.13", "libcublasLt.so.13", "libcusolver.so.12"):
        put(nvidia(library), folder / "nvidia/cu13/lib" / library)


STATUS = "import runpy, sys; sys.argv[1:] = []; runpy.run_module('jaxlib_cuda_13', run_name='__main__')"


def test_the_status_of_a_plugin_for_gpus(run: Program, overlay: Overlay, tmp_path: Path) -> None:
    """What it is, for which GPUs and Pythons, and what it finds here: none of NVIDIA's libraries but a text."""
    (tmp_path / "nvidia/cudnn/lib").mkdir(parents=True)
    (tmp_path / "nvidia/cudnn/lib/libcudnn.so.9").write_text("not a library\n" * 9, "utf-8")
    result = run(STATUS, overlay("cuda13"), tmp_path, CUDA_HOME="/nowhere")
    assert (result.returncode, said(result)) == (1, [])
    lines = result.stdout.splitlines()
    assert lines[0].startswith(f"jaxlib-cuda-13 {VERSION}, build 1, lock ")
    labels = [line[:11].strip() for line in lines[1:]]
    expected = ["runs with", "library", "PJRT API", "extensions", "attributes", "GPU code", "kernels", "libraries"]
    assert labels[: len(expected)] == expected
    shown = {line[:11].strip(): line[12:] for line in lines}
    assert {"Gpu_Custom_Call", "FFI", "Layouts"} <= set(shown["extensions"].split(", "))
    assert "sm_90" in shown["GPU code"].split()
    assert {"_solver", "cuda_plugin_extension"} <= set(shown["kernels"].split())
    assert "libcudnn.so.9" in shown["missing"].split()
    impostor = f"{tmp_path}/nvidia/cudnn/lib/libcudnn.so.9 is not a library: not an ELF file"
    assert f"rejected    {impostor}" in lines
    assert f"cuDNN cannot be opened: {impostor}" in shown["problem"]
    assert shown["hardware"] == ABSENT["cuda13"].partition(": ")[2]
    assert f"pip install 'jaxlib-cuda-13[with-cuda]=={VERSION}'" in lines[-1]


def test_the_status_where_only_the_hardware_is_absent(
    run: Program, overlay: Overlay, nvidia: Callable[..., Path], nvidia_wheels: Path, tmp_path: Path
) -> None:
    """The plugin fits, and the last line says that there is nothing to use it with; a wrong file is passed over."""
    add_unchecked_libraries(nvidia, tmp_path)
    result = run(STATUS, overlay("cuda13"), nvidia_wheels, tmp_path)
    assert (result.returncode, said(result)) == (0, []), result.stdout
    absence = ABSENT["cuda13"].partition(": ")[2]
    assert result.stdout.splitlines()[-1] == f"jaxlib-cuda-13 fits, but JAX cannot use it here: {absence}"


@pytest.mark.parametrize(
    ("libtpu", "line"),
    [
        (None, f"jaxlib-tpu needs libtpu VERSION, which is not installed; {WITHOUT_LIBTPU}"),
        ("0.0.1", f"jaxlib-tpu needs libtpu VERSION, and 0.0.1 is installed; {WITHOUT_LIBTPU}"),
        ("VERSION", "jaxlib-tpu: no TPU found (looked in /sys/bus/pci/devices); JAX goes on without it"),
    ],
    ids=["missing", "wrong", "right"],
)
def test_the_tpus_library_must_be_the_one_of_the_release(
    run: Program, overlay: Overlay, release: Release, tmp_path: Path, libtpu: str | None, line: str
) -> None:
    """Without a TPU that is a warning; libtpu itself is never started, and nothing is registered."""
    version = release.pin("plugin.tpu.linux_x86_64").version
    if libtpu is not None:
        info = tmp_path / "site/libtpu-0.dist-info"
        info.mkdir(parents=True)
        text = f"Metadata-Version: 2.1\nName: libtpu\nVersion: {libtpu.replace('VERSION', version)}\n"
        (info / "METADATA").write_text(text, "utf-8")
    result = run(USE_JAX, overlay("tpu"), tmp_path / "site")
    assert (result.returncode, result.stdout) == (0, USED), result.stderr
    assert said(result) == [line.replace("VERSION", version)]


@pytest.fixture(scope="module")
def nvidia(root: Path, compile_library: Callable[..., Path]) -> Callable[..., Path]:
    """Return a function: options → a mock of any of NVIDIA's libraries; see tests/data/fake_cuda.c."""

    @functools.cache
    def compile_cuda(soname: str, version: int = 0) -> Path:
        source = root / "tests/data/fake_cuda.c"
        return compile_library(f"{version}_{soname}", source, f"-DVERSION={version}", f"-Wl,-soname,{soname}")

    return compile_cuda


@pytest.fixture(scope="module")
def nvidia_wheels(nvidia: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder like site-packages with NVIDIA's libraries of CUDA 13, as far as their versions are checked."""
    folder = tmp_path_factory.mktemp("nvidia")
    for library in ("libcudart.so.13", "libcublas.so.13", "libcupti.so.13", "libcusparse.so.12", "libcufft.so.12"):
        put(nvidia(library), folder / "nvidia/cu13/lib" / library)
    put(nvidia("libcudnn.so.9"), folder / "nvidia/cudnn/lib/libcudnn.so.9")
    return folder


def put(library: Path, target: Path) -> None:
    """Give a library another name, in another folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.hardlink_to(library)


@pytest.mark.parametrize(
    ("environ", "answer"),
    [
        ({"FAKE_GPUS": "90 100"}, "Driver(version=13000, capabilities=(90, 100))"),
        ({"FAKE_GPUS": "", "FAKE_CUDA": "12080"}, "Driver(version=12080, capabilities=())"),
        ({"FAKE_CUINIT": "100"}, "NoDeviceError: NVIDIA's driver sees no GPU (CUDA_VISIBLE_DEVICES is '7')"),
        *(
            (
                {"FAKE_CUINIT": str(status)},
                f"DriverError: NVIDIA's driver does not start: cuInit failed with status {status}",
            )
            for status in (34, 802, 803, 804)
        ),
    ],
    ids=str,
)
def test_the_driver_is_asked(
    run: Program, overlay: Overlay, nvidia: Callable[..., Path], tmp_path: Path, environ: dict[str, str], answer: str
) -> None:
    """Its version and its GPUs, or why there are none."""
    put(nvidia("libcuda.so.1"), tmp_path / "libcuda.so.1")
    code = (
        "from jaxlib_cuda_13.cuda import driver\n"
        f"wanted = driver.Wanted('libcuda.so.1', (driver.Path({str(tmp_path)!r}),))\n"
        "try:\n    print(driver.ask_driver(wanted, '7'))\n"
        "except RuntimeError as error:\n    print(error)\n"
    )
    result = run(code, overlay("cuda13"), **environ)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[0] == answer


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


@pytest.mark.parametrize(
    ("environ", "status", "line"),
    [
        ({"FAKE_CUINIT": "100"}, 0, "jaxlib-cuda-13: NVIDIA's driver sees no GPU; JAX goes on without it"),
        *(
            ({"FAKE_CUINIT": str(failure)}, 1, f"NVIDIA's driver does not start: cuInit failed with status {failure}")
            for failure in (34, 802, 803, 804)
        ),
        (
            {"FAKE_GPUS": "90", "FAKE_CUDA": "12080"},
            1,
            "NVIDIA's driver runs CUDA up to 12.8, and jaxlib-cuda-13 needs",
        ),
        ({"FAKE_GPUS": "90"}, 1, "VendorLibraryError: cuBLAS is missing (libcublas.so.13)"),
    ],
    ids=["no GPU", "34", "802", "803", "804", "old driver", "no libraries"],
)
def test_a_machine_with_a_device_of_nvidias(
    run: Program,
    overlay: Overlay,
    nvidia: Callable[..., Path],
    namespace: list[str],
    tmp_path: Path,
    environ: dict[str, str],
    status: int,
    line: str,
) -> None:
    """JAX goes on only if its driver says that there is no GPU; all else is an error with a name, at the first use."""
    put(nvidia("libcuda.so.1"), tmp_path / "driver/libcuda.so.1")
    library_path = str(tmp_path / "driver")
    result = run(USE_JAX, overlay("cuda13"), inside=namespace, LD_LIBRARY_PATH=library_path, **environ)
    assert (result.returncode, result.stdout) == (status, USED * (status == 0)), result.stderr
    assert line in result.stderr


@pytest.mark.parametrize(
    ("environ", "status", "verdict"),
    [
        ({"FAKE_GPUS": "90"}, 0, "jaxlib-cuda-13 fits here: JAX uses it for its platform 'cuda'"),
        (
            {"FAKE_CUINIT": "100", "CUDA_VISIBLE_DEVICES": ""},
            1,
            "jaxlib-cuda-13 does not fit here. To fix it: unset CUDA_VISIBLE_DEVICES",
        ),
        (
            {"FAKE_GPUS": "90", "FAKE_CUDA": "12080"},
            1,
            (
                "jaxlib-cuda-13 does not fit here. "
                "To fix it: update the driver to 580 or newer, or use the wheel for CUDA 12"
            ),
        ),
        (
            {"FAKE_GPUS": "61"},
            1,
            (
                "jaxlib-cuda-13 does not fit here. To fix it: use the wheel for CUDA 12, "
                "or leave these GPUs out of CUDA_VISIBLE_DEVICES"
            ),
        ),
        (
            {"FAKE_GPUS": "90 90"},
            1,
            (
                "jaxlib-cuda-13 does not fit here. To fix it: pip install --upgrade nvidia-nccl-cu13 "
                f"(or all of NVIDIA's: pip install 'jaxlib-cuda-13[with-cuda]=={VERSION}'); "
                "JAX_SKIP_CUDA_CONSTRAINTS_CHECK=1 tries it as it is"
            ),
        ),
    ],
    ids=["all well", "hidden", "old driver", "old GPU", "two GPUs without NCCL"],
)
def test_the_status_on_a_machine_with_a_device_of_nvidias(
    run: Program,
    overlay: Overlay,
    nvidia: Callable[..., Path],
    nvidia_wheels: Path,
    namespace: list[str],
    tmp_path: Path,
    environ: dict[str, str],
    status: int,
    verdict: str,
) -> None:
    """Whatever keeps JAX from using a GPU that is there is a misfit, also that this process sees none."""
    put(nvidia("libcuda.so.1"), tmp_path / "driver/libcuda.so.1")
    add_unchecked_libraries(nvidia, tmp_path)
    library_path = str(tmp_path / "driver")
    plugins = overlay("cuda13"), nvidia_wheels, tmp_path
    result = run(STATUS, *plugins, inside=namespace, LD_LIBRARY_PATH=library_path, **environ)
    assert (result.returncode, result.stdout.splitlines()[-1]) == (status, verdict), result.stderr


def test_libraries_of_the_wheels_are_taken_whatever_the_search_path(
    run: Program, overlay: Overlay, nvidia: Callable[..., Path], nvidia_wheels: Path, tmp_path: Path
) -> None:
    """An older cuSPARSE in LD_LIBRARY_PATH is neither opened nor found by name later."""
    put(nvidia("libcusparse.so.12", 12000), tmp_path / "poison/libcusparse.so.12")
    code = BELIEVE + (
        "from jaxlib_cuda_13.pjrt import _pjrt\n"
        "print(_pjrt.library_version('libcusparse.so.12', 'cusparseGetProperty', 'properties'))\n"
        "print(any('poison' in line for line in open('/proc/self/maps')))\n"
    )
    result = run(code, overlay("cuda13"), nvidia_wheels, LD_LIBRARY_PATH=str(tmp_path / "poison"))
    assert (result.returncode, result.stdout) == (0, "(12, 6, 2)\nFalse\n"), result.stderr


def test_options_of_the_client(run: Program, overlay: Overlay) -> None:
    """Those of the environment, of JAX's configuration, and of a program of several processes."""
    environ = {"JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1", "XLA_CLIENT_MEM_FRACTION": "0.5"}
    result = run(PRETEND, overlay("cuda13"), **environ)
    assert result.returncode == 0, result.stderr
    registration, *clients = result.stdout.splitlines()
    assert registration == "500 False False True"
    alone, together = ({"name": line[:4], **ast.literal_eval(line[5:])} for line in clients)
    assert alone == {
        "name": "cuda",
        "platform_name": "cuda",
        "allocator": "default",
        "memory_fraction": 0.5,
        "abort_collectives_on_failure": False,
        "use_tfrt_gpu_client": False,
        "visible_devices": [0, 2],
        "enable_mock_nccl": False,
    }
    assert together == {**alone, "node_id": 3, "num_nodes": 4}


def test_a_gpu_without_its_libraries_is_no_silent_fall_back(run: Program, overlay: Overlay, tmp_path: Path) -> None:
    """JAX lets the error through, which names each of them and what installs them."""
    result = run(PRETEND, overlay("cuda13"), tmp_path, CUDA_HOME="/nowhere")
    assert result.returncode == 0, result.stderr
    registration, what, looked, remedy = result.stdout.splitlines()
    assert registration == "500 False False True"
    assert what.startswith("VendorLibraryError: ")
    assert "cuDNN is missing (libcudnn.so.9)" in what
    assert "/nowhere/lib64" in looked
    assert "nvidia-cudnn-cu13" in remedy


def test_what_is_missing_and_what_is_old_is_reported_at_once(
    run: Program, overlay: Overlay, nvidia: Callable[..., Path], nvidia_wheels: Path, tmp_path: Path
) -> None:
    """With the places that were looked at and one command for all."""
    site = tmp_path / "site"
    for library in nvidia_wheels.rglob("*.so.*"):
        if not library.name.startswith(("libcusparse", "libcudnn")):
            put(library, site / library.relative_to(nvidia_wheels))
    put(nvidia("libcudnn.so.9", 90100), site / "nvidia/cudnn/lib/libcudnn.so.9")
    result = run(BELIEVE, overlay("cuda13"), site)
    what, looked, remedy = result.stdout.splitlines()
    texts = ["cuSPARSE is missing (libcusparse.so.12)", "cuDNN 9.1.0 is too old: at least 9.12.0 is needed"]
    assert what == f"VendorLibraryError: {'; '.join(texts)}"
    assert looked.startswith(f"looked in {site}/nvidia/cu13/lib, ")
    assert remedy == (
        "pip install --upgrade nvidia-cusparse nvidia-cudnn-cu13 "
        f"(or all of NVIDIA's: pip install 'jaxlib-cuda-13[with-cuda]=={VERSION}'); "
        "JAX_SKIP_CUDA_CONSTRAINTS_CHECK=1 tries it as it is"
    )
    assert run(BELIEVE, overlay("cuda13"), site, JAX_SKIP_CUDA_CONSTRAINTS_CHECK="1").stdout == ""
