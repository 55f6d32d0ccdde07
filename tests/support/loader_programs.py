# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that use JAX with the wheels of accelerators, and what these say where their hardware is not."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from release_under_test import release_under_test

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


def said(result: subprocess.CompletedProcess[str]) -> list[str]:
    """Return what a program printed as warnings, without what NVIDIA's kernels say where there is no CUDA runtime."""
    own = ("WARNING: All log messages before absl", "I0000")
    return [line for line in result.stderr.splitlines() if not line.startswith(own)]


def put(library: Path, target: Path) -> None:
    """Give a library another name, in another folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.hardlink_to(library)
