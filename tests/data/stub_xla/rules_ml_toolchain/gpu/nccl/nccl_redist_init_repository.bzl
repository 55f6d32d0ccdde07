# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Declares nothing."""

def nccl_redist_init_repository():
    """The name that the graph calls."""
