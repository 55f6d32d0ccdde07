# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read from a library for which chips it holds code.

What is read depends on what the file holds, never on what it is called: `.nv_fatbin` by NVIDIA's own cuobjdump,
`.hip_fatbin` and SYCL's sections by parsers of our own.
"""

from pjrtwheel.gpucode.code import GPU_CODE_FILENAME, GpuCode, GpuCodeList, NvidiaTarget, list_codes, merge_codes
from pjrtwheel.gpucode.reader import needed_tools, read_gpu_code

__all__ = [
    "GPU_CODE_FILENAME",
    "GpuCode",
    "GpuCodeList",
    "NvidiaTarget",
    "list_codes",
    "merge_codes",
    "needed_tools",
    "read_gpu_code",
]
