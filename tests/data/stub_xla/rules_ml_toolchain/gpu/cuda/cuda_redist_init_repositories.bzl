# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Checks what it is given."""

def cuda_redist_init_repositories(cuda_redistributions, redist_versions_to_build_templates):
    """Each distribution must have its build template.

    Args:
        cuda_redistributions: Name to distribution.
        redist_versions_to_build_templates: Name to build template.
    """
    if sorted(cuda_redistributions) != sorted(redist_versions_to_build_templates):
        fail("distributions and build templates do not match")

def cudnn_redist_init_repository(cudnn_redistributions):
    """The name that the graph calls.

    Args:
        cudnn_redistributions: Not used.
    """
