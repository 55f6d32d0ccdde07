# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Where AMD's, Intel's and Google's accelerators and their libraries are found, on machines made of files."""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from folders import write_files
from loaders import load_module

Machine = Callable[[Mapping[str, str]], Path]

KFD = "sys/class/kfd/kfd/topology/nodes"
DRM = "sys/class/drm"
PCI = "sys/bus/pci/devices"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Return a function: path → content of each file → the root of a file system with them."""
    return functools.partial(write_files, tmp_path)


@pytest.mark.parametrize(
    ("files", "count", "driver"),
    [
        ({}, 0, False),
        ({f"{KFD}/0/properties": "cpu_cores_count 8\nsimd_count 0\n"}, 0, False),
        ({f"{KFD}/0/properties": "simd_count 0\n", f"{KFD}/1/properties": "simd_count 304\n", "dev/kfd": ""}, 1, True),
        ({f"{KFD}/{node}/properties": "simd_count 304\n" for node in range(8)}, 8, False),
        ({f"{KFD}/0/properties": "", f"{KFD}/1/name": "gfx942"}, 0, False),
        ({"dev/dxg": ""}, 1, True),
    ],
    ids=["none", "CPU", "CPU and GPU", "eight without the device", "no properties", "WSL"],
)
def test_amd_gpus(machine: Machine, files: Mapping[str, str], count: int, driver: bool) -> None:
    """The kernel driver lists processors too; a container sees GPUs in /sys even if it was not given the device."""
    amd, root = load_module("rocm7", "rocm.amd"), machine(files)
    assert (len(amd.gpus(root)), bool(amd.device_nodes(root))) == (count, driver)


def test_rocm_is_looked_for_where_users_have_it(machine: Machine) -> None:
    """The folder they name, AMD's wheels, the linker's own search, the usual places of that ROCm, newest first."""
    wheels = [f"site/_rocm_sdk_{part}/lib" for part in ("core", "libraries_gfx94X_dcgpu")]
    installed = ["opt/rocm/core-7.14/lib", "opt/rocm-7.2.0/lib", "opt/rocm-7.0.1/lib"]
    others = ["opt/rocm-6.4/lib", "opt/rocm/core-10.0/lib"]
    system = [f"{folder}/rocm_sysdeps/lib" for folder in (wheels[0], installed[0], others[1])]
    root = machine({f"{folder}/a": "" for folder in (*wheels, *installed, *others, *system)})
    folders, site = load_module("rocm7", "rocm.amd").library_folders, ["", str(root / "gone"), str(root / "site")]
    first, last = folders({"ROCM_PATH": "/my/rocm"}, site, root, "7")
    assert first == [Path("/my/rocm/lib"), *(root / folder for folder in (*wheels, system[0]))]
    assert last == [root / folder for folder in ("opt/rocm/lib", *installed, system[1])]
    assert folders({}, [], root, "10") == ([], [root / folder for folder in ("opt/rocm/lib", others[1], system[2])])


def test_oneapi_is_looked_for_where_users_have_it() -> None:
    """Intel's wheels put libraries into `lib` of the environment; each folder is looked at once."""
    intel = load_module("oneapi", "intel")
    package = Path("/venv/lib/python3.12/site-packages/jaxlib_oneapi")
    folders = intel.wheel_folders("/venv", "/home/me/.local", package)
    assert folders == [Path("/venv/lib"), Path("/home/me/.local/lib")]
    other = Path("/overlay/lib/python3.12/site-packages/jaxlib_oneapi")
    assert intel.wheel_folders("/venv", "/venv", other) == [Path("/venv/lib"), Path("/overlay/lib")]
    parts = ("compiler", "mkl", "mpi", "umf", "tcm")
    installed = [Path("/machine/opt/intel/oneapi") / part / "latest/lib" for part in parts]
    assert intel.toolkit_folders({}, Path("/machine")) == installed
    assert intel.toolkit_folders({"ONEAPI_ROOT": "/my"}, Path("/machine"))[0] == Path("/my/compiler/latest/lib")


def chip(address: str, vendor: str, device: str) -> dict[str, str]:
    """Return the files of one PCI device."""
    return {f"{PCI}/{address}/vendor": f"{vendor}\n", f"{PCI}/{address}/device": f"{device}\n"}


def render_node(name: str, vendor: str) -> dict[str, str]:
    """Return the file of one node of a graphics device."""
    return {f"{DRM}/{name}/device/vendor": f"{vendor}\n"}


@pytest.mark.parametrize(
    ("files", "intel", "google"),
    [
        ({}, [], 0),
        (render_node("renderD128", "0x8086"), ["renderD128"], 0),
        (render_node("renderD128", "0x10de") | render_node("renderD129", "0x8086"), ["renderD129"], 0),
        (render_node("card0", "0x8086"), [], 0),
        (chip("0000:00:04.0", "0x1ae0", "0x0063") | chip("0000:00:05.0", "0x1ae0", "0x0062"), [], 2),
        (chip("0000:00:04.0", "0x1ae0", "0x0042"), [], 0),
        (chip("0000:00:04.0", "0x10de", "0x0063"), [], 0),
        ({f"{PCI}/0000:00:04.0/vendor": "0x1ae0\n"}, [], 0),
    ],
    ids=["none", "one", "two vendors", "display only", "v5e, v5p", "network card", "another vendor", "half a device"],
)
def test_intel_gpus_and_tpus(machine: Machine, files: Mapping[str, str], intel: list[str], google: int) -> None:
    """Render nodes by the vendor of their device; Google has other devices on the bus as well."""
    root = machine(files)
    assert load_module("oneapi", "intel").render_nodes(root) == intel
    assert len(load_module("tpu", "hardware").chips(root)) == google


def provide(package: Path, files: Mapping[str, str]) -> Any:
    """Return the plugin for TPUs, as it is with these files in its package and nothing of it anywhere else."""
    for name, text in files.items():
        (package / name).write_text(text, "utf-8")
    return dataclasses.replace(load_module("tpu", "").PLUGIN, package=package)


def test_a_wheel_without_its_metadata_names_the_missing_libtpu(tmp_path: Path) -> None:
    """It knows the version from its own package, so it does not take itself for one of another JAX."""
    plugin = provide(tmp_path, {"provenance.json": '{"project": "libtpu", "version": "0.0.48.1"}'})
    libtpu = load_module("tpu", "libtpu")
    with pytest.raises(load_module("tpu", "pjrt.errors").LibraryMissingError) as caught:
        libtpu.check_libtpu(plugin, {})
    assert caught.value.remedy == "pip install libtpu==0.0.48.1"
    assert libtpu.describe_remedy(plugin)[0] == "pip install --force-reinstall libtpu==0.0.48.1"


@pytest.mark.parametrize(
    ("named", "own"),
    [(None, None), ("", None), ("/site/libtpu/libtpu.so", None), ("/my/libtpu.so", Path("/my/libtpu.so"))],
)
def test_a_library_of_the_users_own(named: str | None, own: Path | None) -> None:
    """The package libtpu names itself in the same variable, which makes it no other library."""
    environ = {} if named is None else {"TPU_LIBRARY_PATH": named}
    assert load_module("tpu", "libtpu").own_library(environ, Path("/site/libtpu/libtpu.so")) == own


@pytest.mark.parametrize(
    ("files", "found", "hidden"),
    [
        ({}, False, False),
        ({f"{PCI}/0000:00:01.0/vendor": "0x1af4\n"}, False, False),
        (chip("0000:00:04.0", "0x1ae0", "0x0063"), False, True),
        (chip("0000:00:04.0", "0x1ae0", "0x0063") | {"dev/vfio/0": ""}, True, False),
        (chip("0000:00:04.0", "0x1ae0", "0x0063") | {"dev/accel0": ""}, True, False),
    ],
    ids=["no bus", "none", "hidden", "vfio", "accel"],
)
def test_a_tpu_without_a_device(machine: Machine, files: Mapping[str, str], *, found: bool, hidden: bool) -> None:
    """A container sees the chips on the bus even if it was not given them; where there is no bus, JAX has a switch."""
    check, root = load_module("tpu", "").find_device, machine(files)
    error = load_module("tpu", "pjrt.errors").NoDeviceError
    if found:
        check(root)
        return
    with pytest.raises(error) as caught:
        check(root)
    assert (caught.value.hidden, "JAX_FORCE_TPU_INIT" in caught.value.remedy) == (hidden, not files)
