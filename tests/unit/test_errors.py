# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Errors have exit codes of their own."""

from pjrtwheel import errors
from pjrtwheel.errors import PjrtWheelError


def test_exit_codes_are_distinct() -> None:
    """A script can tell the errors apart by their status, and none of them means success."""
    leaves = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, PjrtWheelError)]
    codes = [kind.exit_code for kind in leaves]
    assert len(set(codes)) == len(codes)
    assert 0 not in codes
