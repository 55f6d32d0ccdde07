# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read TOML with what this Python has for it."""

from __future__ import annotations

import importlib
from typing import Any

from jaxlib_select.errors import LockError, UsageError

# The standard library's, from Python 3.11, and what it was made from; with the latter under the name pip keeps it by.
_READERS = ("tomllib", "tomli", "pip._vendor.tomli")


def read_toml(text: str) -> dict[str, Any]:
    """Return a TOML document.

    Raises:
        LockError: It is not TOML.
        UsageError: This Python cannot read TOML.
    """
    for name in _READERS:
        try:
            reader = importlib.import_module(name)
        except ImportError:
            continue
        try:
            document: dict[str, Any] = reader.loads(text)
        except ValueError as error:  # TOMLDecodeError is one
            raise LockError("not a TOML file", cause=str(error)) from error
        return document
    raise UsageError(
        "this Python cannot read TOML",
        remedy="use Python 3.11 or newer, or install the package tomli beside jaxlib-select",
    )
