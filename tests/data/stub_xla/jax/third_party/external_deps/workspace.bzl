# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Declares nothing."""

def external_deps_repository(name):
    """The name that the graph calls.

    Args:
        name: Name of the repository.
    """
