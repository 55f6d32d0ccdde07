# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Versions as tuples of numbers, and ranges of them."""

from __future__ import annotations

import operator
import re

from jaxlib_select.machine.model import Version

_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq}
_BOUND = re.compile(r"(<=|>=|==|<|>)(\d+(?:\.\d+)*)")
_NUMBERS = re.compile(r"\d+(?:\.\d+)*")


def read_version(text: str) -> Version | None:
    """Return the numbers at the start of a text, or nothing if there are none.

    >>> read_version("7.0.0-38")
    (7, 0, 0)
    """
    found = _NUMBERS.match(text)
    return tuple(int(part) for part in found.group().split(".")) if found else None


def in_range(version: Version, bounds: str) -> bool:
    """Return whether a version is within bounds such as `>=10,<12`; zeros at the end do not count.

    >>> in_range((7, 0), "<7.5"), in_range((12, 0), ">=10,<12")
    (True, False)

    Raises:
        ValueError: The bounds cannot be read.
    """
    return all(_holds(version, bound.strip()) for bound in bounds.split(","))


def at_least(version: Version, oldest: Version) -> bool:
    """Return whether a version is as new as another, `13` being `13.0`."""
    width = max(len(version), len(oldest))
    return _pad(version, width) >= _pad(oldest, width)


def _holds(version: Version, bound: str) -> bool:
    found = _BOUND.fullmatch(bound)
    if found is None:
        raise ValueError(f"{bound!r} is no bound such as '<7.5'")
    other = tuple(int(part) for part in found.group(2).split("."))
    width = max(len(version), len(other))
    return bool(_COMPARE[found.group(1)](_pad(version, width), _pad(other, width)))


def _pad(version: Version, width: int) -> Version:
    return version + (0,) * (width - len(version))
