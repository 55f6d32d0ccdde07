# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""PJRT's conformance checks, run on a plugin library without JAX."""
