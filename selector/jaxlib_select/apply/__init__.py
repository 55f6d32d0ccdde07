# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Carry out a decision: install it in a Python environment, or write it into a lock file for other machines."""
