# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The wheels for ROCm next to libraries that only have the names and functions of ROCm's, as AMD's wheels place them.

No machine here has ROCm. What is shown: that plugin and kernels find it, and that the real compiler needs no more.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from loader_programs import Program, put, said
from pjrtwheel.backend import Backend
from pjrtwheel.binaries import read_library
from pjrtwheel.prove.executable import ELF, read_payloads, read_varint

pytestmark = pytest.mark.integration

OF_ROCM = re.compile(r"_*(amd|drm|hip|hsa|miopen|nccl|numa|roc)")
NO_DEVICE = 100  # hipErrorNoDevice
CORE = ("libamd_smi.", "libamdhip64.", "libhsa-runtime64.", "librocprofiler-sdk.")
EM_AMDGPU = 224

STATUS = "import runpy, sys; sys.argv[1:] = ['--json']; runpy.run_module({!r}, run_name='__main__')"
IMPORT = "import importlib; [importlib.import_module('{}.' + name) for name in {!r}]"

COMPILE = """
import jax
from jax.experimental import topologies
target = '''
platform_name: "ROCM"
device_description_str: "AMD Instinct MI300X"
gpu_device_info {
  rocm_compute_capability { gcn_arch_name: "gfx942:sramecc+:xnack-" }
  core_count: 304 fpus_per_core: 128 threads_per_core_limit: 2048 threads_per_block_limit: 1024 threads_per_warp: 64
  shared_memory_per_core: 65536 shared_memory_per_block: 65536
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65536 block_dim_limit_z: 65536
  l2_cache_size: 4194304 memory_bandwidth: 5300000000000 clock_rate_ghz: 2.1 device_memory_size: 206141652992
}
'''
(device,) = topologies.get_topology_desc('', 'rocm', topology='1x1x1', target_config=target).devices
matrix = jax.ShapeDtypeStruct((256, 256), 'float32', sharding=jax.sharding.SingleDeviceSharding(device))
compiled = jax.jit(lambda matrix: jax.numpy.sin(matrix) + 1).lower(matrix).compile()
print(compiled.runtime_executable().serialize().hex())
"""


@pytest.fixture(scope="session")
def with_rocm(
    changed: Callable[[str, Path], tuple[Path, Backend]], compile_library: Callable[..., Path], session_folder: Path
) -> Callable[[str, Path], tuple[Path, Backend]]:
    """Return a function: a backend and an empty folder → its wheels there, next to mock wheels of ROCm."""

    def provide(name: str, site: Path) -> tuple[Path, Backend]:
        _, backend = changed(name, site)
        assert backend.kernels is not None
        files = [site / backend.package / backend.library, *(site / backend.kernels.package).glob("*.so")]
        functions: set[str] = set()
        for path in files:
            with path.open("rb") as file:
                symbols = ELFFile(file).get_section_by_name(".dynsym").iter_symbols()
                functions |= {str(symbol.name) for symbol in symbols if symbol["st_shndx"] == "SHN_UNDEF"}
        source = session_folder / f"{name}.c"
        defined = sorted(filter(OF_ROCM.match, functions))
        source.write_text("".join(f"int {function}(void) {{ return {NO_DEVICE}; }}\n" for function in defined), "utf-8")
        # In a library of its own: glibc would miss the versions of symbols in one that is named together with them.
        mock = compile_library(f"{name}_functions.so", "-w", "-fno-builtin", "-fvisibility=default", source)
        for soname in {needed for path in files for needed in read_library(path).needed} & {*backend.external}:
            part = "core" if soname.startswith((*CORE, "librocm_sysdeps")) else "libraries"
            system = "rocm_sysdeps/lib/" if soname.startswith("librocm_sysdeps") else ""
            library = compile_library(f"{name}_{soname}", "-Wl,--no-as-needed", f"-Wl,-soname,{soname}", mock)
            put(library, site / f"_rocm_sdk_{part}/lib/{system}{soname}")
        return site, backend

    return provide


@pytest.mark.parametrize("name", ["rocm7", "rocm10"])
def test_plugin_and_kernels_find_the_wheels_of_amd(
    run: Program,
    with_rocm: Callable[[str, Path], tuple[Path, Backend]],
    python_for: Callable[[str], Path],
    tmp_path: Path,
    name: str,
) -> None:
    """The plugin opens, JAX imports every kernel, and a program is compiled for a chip that is not here.

    One library less, and the plugin is not opened: the message names it, and the ROCm that has it.
    """
    site, backend = with_rocm(name, tmp_path / "site")
    python, status = python_for(name), STATUS.format(backend.package)
    result = run(status, site, python=python)
    document = json.loads(result.stdout)
    assert (result.returncode, said(result), document["library"]["opened"]) == (0, [], True)
    places = [Path(library["path"]) for library in document["vendor"]["libraries"]]
    assert [place.name for place in places] == document["library"]["needed"]
    assert {place.relative_to(site).parts[0] for place in places} == {"_rocm_sdk_core", "_rocm_sdk_libraries"}
    assert backend.kernels is not None
    result = run(IMPORT.format(backend.kernels.package, document["kernels"]["modules"]), site, python=python)
    assert (result.returncode, len(document["kernels"]["modules"])) == (0, 8), result.stderr
    result = run(COMPILE, site, python=python)
    assert result.returncode == 0, result.stderr
    executable = bytes.fromhex(result.stdout)
    size, start = read_varint(executable, 0)
    parts = [part for part in read_payloads(executable[start + size :]) if ELF in part]
    machines = [int.from_bytes(part[part.index(ELF) + 18 :][:2], "little") for part in parts]
    assert ({*machines}, b"gfx942" in executable) == ({EM_AMDGPU}, True)

    (own,) = (library for library in backend.external if library.startswith("libamd_smi."))
    (site / "_rocm_sdk_core/lib" / own).unlink()
    result = run(status, site, python=python)
    (problem,) = json.loads(result.stdout)["problems"]
    major = backend.distribution.rpartition("-")[2]
    assert (result.returncode, f"needs {own} (" in problem["text"]) == (1, True)
    assert problem["remedy"].startswith(f"install ROCm {major}.")
