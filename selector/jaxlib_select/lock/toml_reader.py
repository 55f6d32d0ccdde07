# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read a lock in TOML."""

from __future__ import annotations

from typing import Any

from jaxlib_select.errors import LockError, UsageError
from jaxlib_select.toml import find_reader


def read_toml(text: str) -> dict[str, Any]:
    """Return a TOML document.

    Raises:
        LockError: It is not TOML.
        UsageError: This Python cannot read TOML.
    """
    reader = find_reader()
    if reader is None:
        raise UsageError(
            "this Python cannot read TOML",
            remedy="use Python 3.11 or newer, or install the package tomli beside jaxlib-select",
        )
    try:
        return reader(text)
    except ValueError as error:  # TOMLDecodeError is one
        raise LockError("not a TOML file", cause=str(error)) from error
