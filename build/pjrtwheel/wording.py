# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""How messages are worded; standard library only."""

from __future__ import annotations


def count(number: int, noun: str) -> str:
    """Return a number with what it counts.

    >>> count(1, "target"), count(2, "target")
    ('1 target', '2 targets')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"
