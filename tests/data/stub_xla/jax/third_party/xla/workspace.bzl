# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Declares @xla, in whose place the stub is given."""

def repo():
    """Declares it."""
    native.local_repository(name = "xla", path = "given_by_override_repository")
