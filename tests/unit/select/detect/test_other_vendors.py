# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Detection of accelerators of AMD, Intel and Google."""

import pytest

from hosts import NODE, MakeHost, pci
from jaxlib_select.machine.detect import detect
from jaxlib_select.machine.model import Amd, Devices, Intel

SITE = {"python_path": ("", "/env")}
WHEELS = {"/env/_rocm_sdk_core/lib/libamdhip64.so.7": "", "/env/rocm_sdk_core-10.1.0.dist-info/METADATA": ""}


def node(version: int, simd: int = 256) -> str:
    """Return the properties of a node as the kernel prints them."""
    return f"cpu_cores_count 0\nsimd_count {simd}\nname odd text here\ngfx_target_version {version}\n"


def test_amd_architectures_are_hexadecimal(make_host: MakeHost) -> None:
    """Minor version and step are digits to the base of 16."""
    names = {90010: "gfx90a", 90402: "gfx942", 90006: "gfx906", 100306: "gfx1036", 110003: "gfx1103", 120001: "gfx1201"}
    files = {f"{NODE}/{place}/properties": node(number) for place, number in enumerate(names)}
    assert detect(make_host(files)).amd.gpus == tuple(names.values())


def test_an_amd_machine(make_host: MakeHost) -> None:
    """The processor's node is no GPU; nodes come in the order of their numbers."""
    nodes = {0: node(0, simd=0), 2: node(110000), 10: node(90402)}
    files = {f"{NODE}/{number}/properties": text for number, text in nodes.items()}
    files |= {"/opt/rocm/.info/version": "7.0.0-38\n", "/dev/kfd": "", "/dev/dri/renderD128": ""}
    assert detect(make_host(files)).amd == Amd("7.0.0", ("gfx1100", "gfx942"), accessible=True)


@pytest.mark.parametrize(
    ("files", "given", "rocm"),
    [
        ({"/opt/rocm-6/.info/version": "6.4.1"}, {"environ": {"ROCM_PATH": "/opt/rocm-6"}}, "6.4.1"),
        ({"/opt/rocm/lib/libamdhip64.so.7": "", "/opt/rocm/lib/libamdhip64.so.6": ""}, {}, "7"),
        ({"/usr/lib64/libamdhip64.so.6": ""}, {}, "6"),
        ({**WHEELS, "/opt/rocm/.info/version": "7.2.0\n"}, SITE, "10.1.0"),
        (WHEELS, {**SITE, "environ": {"ROCM_PATH": "/opt/rocm"}}, "10.1.0"),
        ({**WHEELS, "/my/core/.info/version": "7.14.0\n"}, {**SITE, "environ": {"ROCM_PATH": "/my"}}, "7.14.0"),
        ({"/opt/rocm/core/.info/version": "10.0.0\n", "/opt/rocm/lib/libamdhip64.so.7": ""}, {}, "10.0.0"),
        ({"/opt/rocm/lib/libamdhip64.so.7": "", "/opt/rocm/lib/libamd_smi.so.27": ""}, {}, "10"),
        ({"/opt/rocm/lib/libamdhip64.so.7": "", "/opt/rocm/lib/libamd_smi.so.26": ""}, {}, "7"),
        ({"/env/rocm_sdk_core-10.1.0.dist-info/METADATA": ""}, SITE, None),
        ({"/opt/rocm/.info/version": "unknown"}, {}, None),
    ],
    ids=[
        *("ROCM_PATH", "library", "distribution", "wheels before the system", "wheels", "ROCM_PATH before wheels"),
        *("packages of ROCm 10", "libraries of ROCm 10", "libraries of ROCm 7", "uninstalled wheels", "garbage"),
    ],
)
def test_rocm_is_found(make_host: MakeHost, files: dict[str, str], given: dict[str, object], rocm: str | None) -> None:
    """By its version file or its wheels, as plugins find it; else by the names of its libraries."""
    amd = detect(make_host({**files, f"{NODE}/1/properties": node(90402)}, **given)).amd
    assert amd == Amd(rocm, ("gfx942",), accessible=False)


@pytest.mark.parametrize(
    ("environ", "gpus", "notes"),
    [
        ({"HIP_VISIBLE_DEVICES": "1"}, ("gfx1100",), 0),
        ({"ROCR_VISIBLE_DEVICES": "1,0"}, ("gfx1100", "gfx942"), 0),
        ({"ROCR_VISIBLE_DEVICES": "1", "HIP_VISIBLE_DEVICES": "0"}, ("gfx1100",), 0),
        ({"HIP_VISIBLE_DEVICES": "-1"}, (), 0),
        ({"HIP_VISIBLE_DEVICES": ""}, (), 0),
        ({"ROCR_VISIBLE_DEVICES": "GPU-deadbeef"}, ("gfx942", "gfx1100"), 1),
    ],
)
def test_hidden_amd_gpus_are_not_there(
    make_host: MakeHost, environ: dict[str, str], gpus: tuple[str, ...], notes: int
) -> None:
    """As HIP counts them."""
    files = {f"{NODE}/1/properties": node(90402), f"{NODE}/2/properties": node(110000)}
    found = detect(make_host(files, environ=environ))
    assert (found.amd.gpus, len(found.notes), found.visible) == (gpus, notes, environ)


def test_an_impossible_amd_architecture_is_noted(make_host: MakeHost) -> None:
    """And the other GPUs are kept."""
    files = {f"{NODE}/1/properties": node(99), f"{NODE}/2/properties": node(90402), f"{NODE}/3/properties": "\0\xff"}
    found = detect(make_host(files))
    assert (found.amd.gpus, len(found.notes)) == (("gfx942",), 1)


def test_intel_and_google(make_host: MakeHost) -> None:
    """Intel's display devices with Level Zero; Google's devices, with nodes only where one of them is."""
    files = {
        **pci("0000:00:02.0", "0x8086", "0x46a6"),
        **pci("0000:3a:00.0", "0x8086", "0x0BD5", "0x038000"),
        **pci("0000:00:1f.0", "0x8086", "0x7a84", "0x060100"),
        "/usr/lib/x86_64-linux-gnu/libze_loader.so.1": "",
        **dict.fromkeys(("/dev/vfio/0", "/dev/vfio/vfio", "/dev/accel/accel0", "/dev/accel1"), ""),
    }
    found = detect(make_host(files))
    assert (found.intel, found.tpu) == (Intel(("8086:46a6", "8086:0bd5"), level_zero=True), Devices())
    found = detect(make_host(pci("0000:00:05.0", "0x1ae0", "0x0063", "0x120000")))
    assert found.tpu == Devices(("1ae0:0063",), ("/dev/accel1", "/dev/vfio/0"))
