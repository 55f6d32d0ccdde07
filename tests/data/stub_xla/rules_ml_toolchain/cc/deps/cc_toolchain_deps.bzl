# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Declares nothing."""

def cc_toolchain_deps():
    """The name that the graph calls."""
