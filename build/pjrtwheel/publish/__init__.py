# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Bring a release to a destination: plan, upload, read back, promote from a stage, yank."""
