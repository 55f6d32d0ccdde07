# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Declares nothing."""

def python_register_toolchain():
    """The name that the graph calls."""
