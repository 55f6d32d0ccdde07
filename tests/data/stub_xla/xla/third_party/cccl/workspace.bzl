# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The two tables that CUDA's are joined with."""

CCCL_3_2_0_DIST_DICT = {"cccl": {}}
CCCL_GITHUB_VERSIONS_TO_BUILD_TEMPLATES = {"cccl": {}}
