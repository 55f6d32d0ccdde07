# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Code that Intel's SYCL compiler puts into a section named after its target."""

from __future__ import annotations

import re
import struct

from pjrtwheel.gpucode.window import Window

SECTION_PREFIX = "__CLANG_OFFLOAD_BUNDLE__sycl-"
_SPIRV_MAGIC = 0x07230203  # SPIR-V specification, 2.3
_PORTABLE = "spir64"
_TARGET = re.compile(r"[a-z0-9_]{1,64}")


def read_target(section: str, window: Window) -> str:
    """Return the target of a section, such as `spir64`.

    Args:
        section: Its name.
        window: Its bytes.

    Raises:
        ElfError: The name is no target's, or says SPIR-V and the bytes are something else.
    """
    target = section.removeprefix(SECTION_PREFIX)
    if not _TARGET.fullmatch(target):
        raise window.damaged("its name names no target")
    if target == _PORTABLE and struct.unpack("<I", window.read(0, 4))[0] != _SPIRV_MAGIC:
        raise window.damaged("it does not start with SPIR-V's magic number")
    return target
