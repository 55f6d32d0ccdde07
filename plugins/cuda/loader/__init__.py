# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the wheels for CUDA share; copied into each as its subpackage `cuda`, next to `pjrt`.

They differ in data only, in their `toolkit.toml`.
"""
