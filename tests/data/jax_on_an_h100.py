# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Start the real JAX where there is no GPU as if there was one: only what the driver would answer is made up.

It prints JAX's default platform, or nothing if JAX fails.
"""

import contextlib
import ctypes
import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

CUPTI = "libcupti.so.13"


def cupti_version() -> int:
    """CUPTI answers only with a driver: that it can be loaded has to do."""
    ctypes.CDLL(str(next(Path(sys.prefix).glob(f"lib/*/site-packages/nvidia/cu13/lib/{CUPTI}"), CUPTI)))
    return 130


with contextlib.suppress(ImportError):
    versions = importlib.import_module("jax_cuda13_plugin._versions")
    versions.cupti_get_version = cupti_version
    versions.cuda_device_count = lambda: 1
    versions.cuda_compute_capability = lambda _: 90

bridge = importlib.import_module("jax._src.xla_bridge")
importlib.import_module("jax._src.hardware_utils").has_visible_nvidia_gpu = lambda: True
start = bridge._init_backend


def start_cuda(platform: str) -> object:
    """The client for the GPU is made up, if a plugin has registered the platform."""
    registered = platform == "cuda" and platform in bridge._backend_factories
    return SimpleNamespace(platform="cuda") if registered else start(platform)


bridge._init_backend = start_cuda
print(bridge.get_backend().platform)
