# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find the sections of a library that hold code for accelerators, and read each by its format."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from pjrtwheel.elf import ElfImage, read_image
from pjrtwheel.elf.layout import SectionHeader
from pjrtwheel.errors import ElfError
from pjrtwheel.gpucode import amd, nvidia
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
    return nvidia.list_code(tools[_CUOBJDUMP], path, image.where)


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
