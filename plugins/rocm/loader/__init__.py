# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the wheels for ROCm share; copied into each as its subpackage `rocm`, next to `pjrt`.

They differ in the ROCm that they are made with.
"""
