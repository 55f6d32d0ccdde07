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
from elftools.elf.sections import SymbolTableSection

from loader_programs import Program, put, said
from pjrtwheel.backend import Backend
from pjrtwheel.binaries import read_library

pytestmark = [pytest.mark.integration, pytest.mark.slow]

OF_ROCM = re.compile(r"(?:_*|_ZNK?\d+)(amd|drm|h(?:ip|sa)|mbind|miopen|nccl|numa|roc)")
CORE = ("libamd_smi.", "libamdhip64.", "libhsa-runtime64.", "librocm", "librocprofiler-sdk.")

STATUS = "import runpy, sys; sys.argv[1:] = ['--json']; runpy.run_module({!r}, run_name='__main__')"
IMPORT = "import importlib; [importlib.import_module('{}.' + name) for name in {!r}]"
COMPILE = """
import jax
from jax.experimental import topologies
target = '''
platform_name: "ROCM" device_description_str: "AMD Instinct MI300X"
gpu_device_info {
  rocm_compute_capability { gcn_arch_name: "gfx942" } core_count: 304 threads_per_warp: 64
  threads_per_core_limit: 2048 threads_per_block_limit: 1024 shared_memory_per_block: 65536
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65536 block_dim_limit_z: 65536 device_memory_size: 206141652992
}
'''
(device,) = topologies.get_topology_desc('', 'rocm', topology='1x1x1', target_config=target).devices
matrix = jax.ShapeDtypeStruct((256, 256), 'float32', sharding=jax.sharding.SingleDeviceSharding(device))
compiled = jax.jit(lambda matrix: jax.numpy.sin(matrix) + 1).lower(matrix).compile()
print(b'gfx942' in compiled.runtime_executable().serialize())
"""


def undefined_functions(library: Path) -> set[str]:
    """Return the names that a library expects of others, as far as they are ROCm's."""
    with library.open("rb") as file:
        tables = [table for table in ELFFile(file).iter_sections() if isinstance(table, SymbolTableSection)]
        symbols = [symbol for table in tables for symbol in table.iter_symbols() if symbol["st_shndx"] == "SHN_UNDEF"]
        return {symbol.name for symbol in symbols if OF_ROCM.match(symbol.name)}


def put_rocm(backend: Backend, site: Path, compile_library: Callable[..., Path]) -> None:
    """Put a mock of each of ROCm's libraries that the wheels need next to them, where AMD's wheels have it."""
    assert backend.kernels is not None
    files = [site / backend.package / backend.library, *(site / backend.kernels.package).glob("*.so")]
    names = sorted(set().union(*map(undefined_functions, files)))
    source, nothing = site / "rocm.c", site / "nothing.c"
    source.write_text("".join(f"int {name}(void) {{ return 100; }}\n" for name in names), "utf-8")  # hipErrorNoDevice
    nothing.write_text("int nothing;\n", "utf-8")
    # In a library of its own: glibc would miss the versions of symbols in one that is named together with them.
    mock = compile_library(f"{backend.name}.so", "-w", "-fno-builtin", "-fvisibility=default", source)
    for soname in {name for path in files for name in read_library(path, path.name).needed} & {*backend.external}:
        library = compile_library(f"{backend.name}_{soname}", f"-Wl,--no-as-needed,-soname,{soname}", nothing, mock)
        part = "core" if soname.startswith(CORE) else "libraries"
        put(library, site / f"_rocm_sdk_{part}/lib" / ("rocm_sysdeps/lib" if "sysdeps" in soname else "") / soname)


@pytest.mark.parametrize("name", ["rocm7", "rocm10"])
def test_plugin_and_kernels_find_the_wheels_of_amd(
    run: Program,
    changed: Callable[[str, Path], tuple[Path, Backend]],
    compile_library: Callable[..., Path],
    python_for: Callable[[str], Path],
    tmp_path: Path,
    name: str,
) -> None:
    """The plugin opens, JAX imports every kernel, and a program is compiled for a chip that is not here.

    One library less, and the plugin is not opened: the message names it, and the ROCm that has it.
    """
    site, backend = changed(name, tmp_path / "site")
    put_rocm(backend, site, compile_library)
    python, status = python_for(name), STATUS.format(backend.package)
    result = run(status, site, python=python)
    document = json.loads(result.stdout)
    assert (result.returncode, said(result), document["library"]["opened"]) == (0, [], True)
    found = {library["name"]: Path(library["path"]) for library in document["vendor"]["libraries"]}
    folders = {found[name].relative_to(site).parts[0] for name in document["library"]["needed"]}
    assert folders == {"_rocm_sdk_core", "_rocm_sdk_libraries"}
    kernels = document["kernels"]
    result = run(IMPORT.format(kernels["package"], kernels["modules"]), site, python=python)
    assert (result.returncode, len(kernels["modules"])) == (0, 8), result.stderr
    result = run(COMPILE, site, python=python)
    assert (result.returncode, result.stdout) == (0, "True\n"), result.stderr

    (own,) = (library for library in backend.external if library.startswith("libamd_smi."))
    (site / "_rocm_sdk_core/lib" / own).unlink()
    result = run(status, site, python=python)
    (problem,) = json.loads(result.stdout)["problems"]
    assert (result.returncode, f"needs {own} (" in problem["what"]) == (1, True)
    assert problem["remedy"].startswith(f"install ROCm {backend.distribution.rpartition('-')[2]}.")
