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

TOOLS = {
    "cuobjdump": {
        "member": "nvidia/cu13/bin/cuobjdump",
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
        "bundled": True,
        "source": "@xla//xla/pjrt/c:pjrt_c_api_cpu_plugin.so",
        "shared": [],
        "kernels_package": "",
        "kernels_pythons": [],
        "kernels_platforms": [],
        "tools": [],
    },
    "cuda12": {
        "distribution": "jaxlib-cuda-12",
        "package": "jaxlib_cuda_12",
        "library": "xla_cuda_plugin.so",
        "platforms": [
            "linux_x86_64",
            "linux_aarch64",
        ],
        "member": "jax_plugins/xla_cuda12/xla_cuda_plugin.so",
        "bundled": True,
        "source": "@xla//xla/pjrt/c:pjrt_c_api_gpu_plugin.so",
        "shared": [
            "cuda",
        ],
        "kernels_package": "jax_cuda12_plugin",
        "kernels_pythons": [
            "cp312",
            "cp313",
            "cp314",
        ],
        "kernels_platforms": [
            "linux_x86_64",
            "linux_aarch64",
        ],
        "tools": [
            "cuobjdump",
        ],
    },
    "cuda13": {
        "distribution": "jaxlib-cuda-13",
        "package": "jaxlib_cuda_13",
        "library": "xla_cuda_plugin.so",
        "platforms": [
            "linux_x86_64",
            "linux_aarch64",
        ],
        "member": "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
        "bundled": True,
        "source": "@xla//xla/pjrt/c:pjrt_c_api_gpu_plugin.so",
        "shared": [
            "cuda",
        ],
        "kernels_package": "jax_cuda13_plugin",
        "kernels_pythons": [
            "cp312",
            "cp313",
            "cp314",
        ],
        "kernels_platforms": [
            "linux_x86_64",
            "linux_aarch64",
        ],
        "tools": [
            "cuobjdump",
        ],
    },
    "oneapi": {
        "distribution": "jaxlib-oneapi",
        "package": "jaxlib_oneapi",
        "library": "xla_oneapi_plugin.so",
        "platforms": [
            "linux_x86_64",
        ],
        "member": "jax_plugins/xla_oneapi/xla_oneapi_plugin.so",
        "bundled": True,
        "source": "@xla//xla/pjrt/c:pjrt_c_api_gpu_plugin.so",
        "shared": [],
        "kernels_package": "jax_oneapi_plugin",
        "kernels_pythons": [
            "cp312",
            "cp313",
            "cp314",
        ],
        "kernels_platforms": [
            "linux_x86_64",
        ],
        "tools": [],
    },
    "rocm7": {
        "distribution": "jaxlib-rocm-7",
        "package": "jaxlib_rocm_7",
        "library": "xla_rocm_plugin.so",
        "platforms": [
            "linux_x86_64",
        ],
        "member": "jax_plugins/xla_rocm7/xla_rocm_plugin.so",
        "bundled": True,
        "source": "@xla//xla/pjrt/c:pjrt_c_api_gpu_plugin.so",
        "shared": [],
        "kernels_package": "jax_rocm7_plugin",
        "kernels_pythons": [
            "cp312",
            "cp313",
            "cp314",
        ],
        "kernels_platforms": [
            "linux_x86_64",
        ],
        "tools": [],
    },
    "tpu": {
        "distribution": "jaxlib-tpu",
        "package": "jaxlib_tpu",
        "library": "libtpu.so",
        "platforms": [
            "linux_x86_64",
        ],
        "member": "libtpu/libtpu.so",
        "bundled": False,
        "source": "",
        "shared": [],
        "kernels_package": "",
        "kernels_pythons": [],
        "kernels_platforms": [],
        "tools": [],
    },
}
