# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find AMD's GPUs, without waking ROCm: its profiler must be the first to use it."""

from __future__ import annotations

import os
import re
from pathlib import Path

TOPOLOGY = "sys/class/kfd/kfd/topology/nodes"
KFD = "dev/kfd"
WSL = "dev/dxg"

_SIMDS = re.compile(r"^simd_count\s+(\d+)$", re.MULTILINE)


def gpus(root: Path) -> list[str]:
    """Return the AMD GPUs, as the driver numbers them; below WSL, where Windows has them, one stands for any number.

    The kernel driver lists processors as nodes too; a GPU is one with SIMD units (amdkfd, `kfd_topology.c`).

    Args:
        root: The root of the file system.
    """
    if (root / WSL).exists():
        return [f"/{WSL}"]
    nodes = (root / TOPOLOGY).glob("*")
    return sorted(f"/{TOPOLOGY}/{node.name}" for node in nodes if _simd_count(node / "properties") > 0)


def device_nodes(root: Path) -> list[str]:
    """Return the devices of the driver that exist.

    Args:
        root: The root of the file system.
    """
    return [f"/{node}" for node in (KFD, WSL) if (root / node).exists()]


def has_driver(root: Path) -> bool:
    """Return whether the driver's device is there, or Windows' below WSL.

    Args:
        root: The root of the file system.
    """
    return bool(device_nodes(root))


def is_accessible(root: Path) -> bool:
    """Return whether this user may use the driver.

    Args:
        root: The root of the file system.
    """
    return not (root / KFD).exists() or os.access(root / KFD, os.R_OK | os.W_OK)


def shared_memory(root: Path) -> int:
    """Return the size of `/dev/shm` in bytes; 0 if there is none.

    Args:
        root: The root of the file system.
    """
    try:
        status = os.statvfs(root / "dev/shm")
    except OSError:
        return 0
    return status.f_blocks * status.f_frsize


def _simd_count(properties: Path) -> int:
    try:
        match = _SIMDS.search(properties.read_text("ascii"))
    except (OSError, ValueError):
        return 0
    return int(match[1]) if match is not None else 0
