# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Declares nothing."""

def nvshmem_redist_init_repository(nvshmem_redistributions):
    """The name that the graph calls.

    Args:
        nvshmem_redistributions: Not used.
    """
