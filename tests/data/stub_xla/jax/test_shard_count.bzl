# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Declares nothing."""

def test_shard_count_repository(name):
    """The name that the graph calls.

    Args:
        name: Name of the repository.
    """
