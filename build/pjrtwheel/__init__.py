# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Assemble, repair, lock and prove the wheels of a JAX release."""
