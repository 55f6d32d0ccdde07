# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is installed in an environment, read from its files: distributions, plugins, shared libraries."""
