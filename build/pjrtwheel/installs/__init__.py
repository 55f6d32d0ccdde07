# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Install a release as users do, from a stage: every Python, backend and installer that can run on this machine."""
