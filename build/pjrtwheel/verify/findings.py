# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with a wheel: `inspect` reports it, and `verify` refuses a wheel for all but `REPORTED`.

A code never changes its meaning.
"""

from dataclasses import dataclass

from pjrtwheel.errors import PjrtWheelError

# What a check yields: the member it is about (or nothing) and what is wrong with it.
Problem = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of a wheel.

    Attributes:
        code: Stable name of the kind of fault, such as `rpath-repeated`.
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


def describe_error(error: PjrtWheelError) -> str:
    """Return what happened and why, on one line."""
    return ": ".join(part for part in (error.what, error.cause) if part)


# `verify` leaves these to auditwheel, twine and the backend file, or to taste.
REPORTED = frozenset(
    {
        "glibc",
        "gpu-code",
        "jaxlib-version",
        "license-field",
        "platform-floor",
        "purelib",
        "requires-any-version",
        "runtime",
        "symbols",
    }
)
