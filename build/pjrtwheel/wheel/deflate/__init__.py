# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Compress on all cores into one deflate stream (RFC 1951)."""
