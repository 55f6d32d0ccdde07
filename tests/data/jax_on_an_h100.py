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


with contextlib.suppress(ImportError):  # upstream's plugin
    versions = importlib.import_module("jax_cuda13_plugin._versions")
    versions.cupti_get_version = cupti_version
    versions.cuda_device_count = lambda: 1
    versions.cuda_compute_capability = lambda _: 90

with contextlib.suppress(Exception):  # ours, unless it is damaged
    driver = importlib.import_module("jaxlib_cuda_13.cuda.driver")
    nvidia = importlib.import_module("jaxlib_cuda_13.cuda.nvidia")
    nvidia.ask_driver = lambda *_: driver.Driver(version=13000, capabilities=(90,))
    nvidia.device_nodes = lambda _: ["/dev/nvidia0"]

bridge = importlib.import_module("jax._src.xla_bridge")
importlib.import_module("jax._src.hardware_utils").has_visible_nvidia_gpu = lambda: True
start = bridge._init_backend


def start_cuda(platform: str) -> object:
    """The client for the GPU is made up, if a plugin has registered the platform and does not refuse it."""
    try:
        return start(platform)
    except Exception as error:
        refused = type(error).__module__.startswith("jaxlib_cuda_13.")
        if platform != "cuda" or platform not in bridge._backend_factories or refused:
            raise
        return SimpleNamespace(platform="cuda")


bridge._init_backend = start_cuda
print(bridge.get_backend().platform)
