# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The names of PJRT's extensions, for people; a plugin itself tells only numbers."""

from __future__ import annotations

# PJRT_Extension_Type of pjrt_c_api.h (PJRT C API 0.115), in its order from 0 on; new ones are added at the end.
NAMES = (
    "Gpu_Custom_Call",
    "Profiler",
    "Custom_Partitioner",
    "Stream",
    "Layouts",
    "FFI",
    "MemoryDescriptions",
    "Triton",
    "RawBuffer",
    "PhaseCompile",
    "Example",
    "Unknown",
    "CrossHostTransfers",
    "ExecutableMetadata",
    "Callback",
    "HostAllocator",
    "TpuTopology",
    "TpuExecutable",
    "Megascale",
    "Shardings",
    "AbiVersion",
    "Collectives",
    "MultiSlice",
    "HostMemoryAllocator",
    "XlaTransform",
)


def extension_name(kind: int) -> str:
    """Return PJRT's name of an extension.

    >>> extension_name(5), extension_name(99)
    ('FFI', '99')
    """
    return NAMES[kind] if 0 <= kind < len(NAMES) else str(kind)
