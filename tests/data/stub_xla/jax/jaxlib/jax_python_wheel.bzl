# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Declares nothing."""

def jax_python_wheel_repository(name, version_key, version_source):
    """The name that the graph calls.

    Args:
        name: Name of the repository.
        version_key: Name of the variable.
        version_source: The file that has it.
    """
