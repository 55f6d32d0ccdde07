# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a wheel, whoever looks at it: `verify` refuses a wheel for it, `inspect` tells it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# What a check yields: the member it is about (or nothing) and what is wrong with it.
Problem = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of a wheel.

    Attributes:
        code: Stable name of the kind of fault, such as `rpath-repeated`; `codes.py` says what each means.
        member: The file it is about; empty for the wheel as a whole.
        text: What was found, without a final period.
    """

    code: str
    member: str
    text: str

    def __str__(self) -> str:
        """Return the finding as one line for the terminal."""
        place = f"{self.member}: " if self.member else ""
        return f"{place}{self.text} [{self.code}]"


def name_problems(code: str, problems: Iterable[Problem]) -> Iterator[Finding]:
    """Say of what kind problems are."""
    return (Finding(code, member, text) for member, text in problems)
