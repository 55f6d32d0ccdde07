# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Every backend and what the graph needs to know of it.

Generated from the `backend.toml` files; do not edit. To refresh it: PYTHONPATH=build python3 -m pjrtwheel.bazel.backends_bzl
"""

PLATFORMS = {
    "linux_x86_64": {
        "compiler_target": "x86_64-linux-gnu.2.17",
    },
    "linux_aarch64": {
        "compiler_target": "aarch64-linux-gnu.2.17",
    },
}

BACKENDS = {
    "cpu": {
        "distribution": "jaxlib-cpu",
        "package": "jaxlib_cpu",
        "library": "pjrt_c_api_cpu_plugin.so",
        "platforms": [
            "linux_x86_64",
            "linux_aarch64",
        ],
        "member": "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so",
        "source": "@xla//xla/pjrt/c:pjrt_c_api_cpu_plugin.so",
    },
}
