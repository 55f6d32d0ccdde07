# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run JAX's own tests on the built-in client and on a plugin, in one environment, and compare case by case."""
