# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Clean Python environments, the interpreters they are made with, and the processes that run in them."""
