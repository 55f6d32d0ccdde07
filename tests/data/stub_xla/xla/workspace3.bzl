# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Declares nothing."""

def xla_workspace3():
    """The name that the graph calls; a stub needs no further repositories."""
