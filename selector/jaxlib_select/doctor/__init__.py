# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Say what JAX will find and use in an environment, and what is wrong with that."""
