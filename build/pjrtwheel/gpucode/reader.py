# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find the sections of a library that hold code for accelerators, and read each by its format.

NVIDIA's own cuobjdump lists NVIDIA's code: it takes half a second for a library of 400 MB, and no space on disk.
"""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from pjrtwheel.elf import ElfImage, read_image
from pjrtwheel.elf.layout import SectionHeader
from pjrtwheel.errors import ElfError
from pjrtwheel.gpucode import amd
from pjrtwheel.gpucode.code import GpuCode, order_names
from pjrtwheel.gpucode.streams import Window

_CUOBJDUMP = "cuobjdump"
_NVIDIA_SECTIONS = {".nv_fatbin", "__nv_relfatbin"}
_AMD_SECTION = ".hip_fatbin"
_SYCL_PREFIX = "__CLANG_OFFLOAD_BUNDLE__sycl-"  # Intel's SYCL compiler names a section after its target
_SYCL_TARGET = re.compile(r"[a-z0-9_]{1,64}")
_SYCL_PORTABLE = "spir64"
_SPIRV_MAGIC = 0x07230203  # SPIR-V specification, 2.3


def needed_tools(image: ElfImage) -> tuple[str, ...]:
    """Return the names of the programs without which the code of a library cannot be read."""
    return (_CUOBJDUMP,) if _NVIDIA_SECTIONS & {name for name, _ in _filled(image)} else ()


def read_gpu_code(path: Path, tools: Mapping[str, Path], *, where: str = "") -> GpuCode:
    """Return for which chips a library holds code; for none if it has no section with such code.

    The tools are programs of vendors by name, see `needed_tools`; messages call the library `where`, or by its name.

    Raises:
        ElfError: The file is no ELF file, its code is damaged or says what it is not, or a program is missing.
    """
    with path.open("rb") as file:
        image = read_image(file, where or path.name)
        sass, ptx = _read_nvidia(path, image, tools)
        return GpuCode(sass=sass, ptx=ptx, gfx=_read_amd(file, image), spirv=_read_sycl(file, image))


def _read_nvidia(path: Path, image: ElfImage, tools: Mapping[str, Path]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not needed_tools(image):
        return (), ()
    if _CUOBJDUMP not in tools:
        raise ElfError(
            f"{image.where} holds code for NVIDIA GPUs, and there is no {_CUOBJDUMP} to read it",
            cause=f"the backend names no tool {_CUOBJDUMP!r}, or it was not handed on",
            remedy=f"give NVIDIA's {_CUOBJDUMP}; the package index has it as nvidia-cuda-cuobjdump",
        )
    return _list_nvidia(tools[_CUOBJDUMP], path, image.where)


def _read_amd(file: BinaryIO, image: ElfImage) -> tuple[str, ...]:
    windows = [window for name, window in _windows(file, image) if name == _AMD_SECTION]
    return order_names(target for window in windows for target in amd.read_targets(window))


def _read_sycl(file: BinaryIO, image: ElfImage) -> tuple[str, ...]:
    return order_names(
        _sycl_target(name.removeprefix(_SYCL_PREFIX), window)
        for name, window in _windows(file, image)
        if name.startswith(_SYCL_PREFIX)
    )


def _sycl_target(target: str, window: Window) -> str:
    """Return the target of a section, such as `spir64`, after a look at its bytes."""
    if not _SYCL_TARGET.fullmatch(target):
        raise window.damaged("its name names no target")
    if target == _SYCL_PORTABLE and struct.unpack("<I", window.read(0, 4))[0] != _SPIRV_MAGIC:
        raise window.damaged("it does not start with SPIR-V's magic number")
    return target


def _windows(file: BinaryIO, image: ElfImage) -> list[tuple[str, Window]]:
    return [
        (name, Window(file, section.offset, section.file_size, f"{name} of {image.where}"))
        for name, section in _filled(image)
    ]


def _filled(image: ElfImage) -> list[tuple[str, SectionHeader]]:
    return [pair for pair in zip(image.names, image.sections, strict=True) if pair[1].file_size]


_LINE = re.compile(r"(ELF|PTX) file +\d+: .+\.sm_(\d+[a-z]?)\.(?:cubin|ptx)")
_LISTED = ("ELF file", "PTX file")
_NOTHING = "does not contain device code"
_TIME_LIMIT = 300  # seconds; only a damaged file takes that long


def _list_nvidia(cuobjdump: Path, library: Path, where: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of SASS, such as `sm_90`, and of PTX, such as `compute_120`.

    Raises:
        ElfError: The program cannot be run, fails, or finds no code.
    """
    names = parse_listing(_run(cuobjdump, library, where), where)
    if not any(names):
        raise ElfError(
            f"cuobjdump finds no code in {where}, which has a section for it",
            cause="the library is damaged, or newer than the program",
            remedy="fetch it again, or pin a newer nvidia-cuda-cuobjdump",
        )
    return names


def parse_listing(text: str, where: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    r"""Return the names of SASS and of PTX in a list of cuobjdump.

    >>> parse_listing("ELF file    1: a.1.sm_120.cubin\nPTX file    1: a.1.sm_90a.ptx\n", "a.so")
    (('sm_120',), ('compute_90a',))

    Raises:
        ElfError: A line of the list names no version.
    """
    versions: dict[str, set[str]] = {"ELF": set(), "PTX": set()}
    for line in text.splitlines():
        match = _LINE.fullmatch(line.strip())
        if match:
            versions[match[1]].add(match[2])
        elif line.startswith(_LISTED):
            raise ElfError(f"cuobjdump names no architecture for a part of {where}", cause=f"it printed {line!r}")
    sass, ptx = (f"sm_{version}" for version in versions["ELF"]), (f"compute_{version}" for version in versions["PTX"])
    return order_names(sass), order_names(ptx)


def _run(cuobjdump: Path, library: Path, where: str) -> str:
    """Return what the program prints; nothing where it says that there is no code."""
    command = [str(cuobjdump), "--list-elf", "--list-ptx", str(library)]  # both in one run: each reads all of it
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_TIME_LIMIT)
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError) as error:
        raise ElfError(
            f"cannot list the GPU code of {where}: {error}",
            cause="NVIDIA's cuobjdump is missing, not executable, made for another machine, or did not come back",
        ) from error
    said = result.stdout + result.stderr
    if result.returncode and _NOTHING not in said:
        lines = said.strip().splitlines() or ["it printed nothing"]
        raise ElfError(f"cuobjdump failed on {where} with status {result.returncode}", cause=lines[-1])
    return result.stdout
