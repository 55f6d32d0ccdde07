# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Versions as tuples of numbers, and ranges of them as PEP 440 has them."""

from __future__ import annotations

import operator
import re

from jaxlib_select.machine.model import Version

_COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_BOUND = re.compile(r"(<=|>=|<|>|~=|==|!=)\s*(\d+(?:\.\d+)*)(\.\*)?")
_NUMBERS = re.compile(r"\d+(?:\.\d+)*")


def read_version(text: str) -> Version | None:
    """Return the numbers at the start of a text, or None if there are none.

    >>> read_version("7.0.0-38"), read_version("13"), read_version("new")
    ((7, 0, 0), (13,), None)
    """
    found = _NUMBERS.match(text)
    return tuple(int(part) for part in found.group().split(".")) if found else None


def is_final(text: str) -> bool:
    """Return whether a text is a version of numbers alone, and not one such as `0.12.0rc1`."""
    return _NUMBERS.fullmatch(text) is not None


def in_range(version: Version, bounds: str) -> bool:
    """Return whether a version is within bounds such as `>=10,<12` or `~=0.11.0`; zeros at the end do not count.

    >>> in_range((7, 0), "<7.5"), in_range((12, 0), ">=10,<12"), in_range((0, 11, 2), "~=0.11.0, !=0.11.1")
    (True, False, True)

    Raises:
        ValueError: The bounds cannot be read.
    """
    holds = [_holds(version, bound.strip()) for bound in bounds.split(",")]  # each is read, also after one that fails
    return all(holds)


def at_least(version: Version, oldest: Version) -> bool:
    """Return whether a version is as new as another, `13` being `13.0`.

    >>> at_least((13,), (13, 0)), at_least((12, 9), (13,)), at_least((), (12,))
    (True, False, False)
    """
    width = max(len(version), len(oldest))
    return _pad(version, width) >= _pad(oldest, width)


def _holds(version: Version, bound: str) -> bool:
    found = _BOUND.fullmatch(bound)
    if found is None:
        raise ValueError(f"{bound!r} is no bound such as '<7.5'")
    sign, other, series = found.group(1), read_version(found.group(2)) or (), found.group(3) is not None
    if (series and sign not in {"==", "!="}) or (sign == "~=" and len(other) < 2):
        raise ValueError(f"{bound!r} is no bound such as '<7.5', '~=7.5' or '==7.*'")
    if sign == "~=":  # as new, and of the same series
        return at_least(version, other) and _pad(version, len(other))[: len(other) - 1] == other[:-1]
    width = len(other) if series else max(len(version), len(other))
    return bool(_COMPARE[sign](_pad(version, width)[:width], _pad(other, width)))


def _pad(version: Version, width: int) -> Version:
    return version + (0,) * (width - len(version))
