# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Declares nothing."""

def nvidia_wheel_versions_repository(name, versions_source):
    """The name that the graph calls.

    Args:
        name: Name of the repository.
        versions_source: The requirements that name the versions.
    """

def python_wheel_version_suffix_repository(name):
    """The name that the graph calls.

    Args:
        name: Name of the repository.
    """
