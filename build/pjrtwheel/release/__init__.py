# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A JAX release as data: its pinned inputs, what it needs, and the lock of the wheels made from it."""
