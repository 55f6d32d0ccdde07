# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The table that XLA's is joined with."""

REDIST_VERSIONS_TO_BUILD_TEMPLATES = {}
