# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a check has to say about a wheel."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """Whether a finding stops the wheel."""

    ERROR = "error"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement of one check about one wheel.

    Attributes:
        severity: An error stops the wheel; a note records what was proven.
        wheel: File name of the wheel.
        check: Name of the check, such as `record` or `auditwheel`.
        member: File inside the wheel, or empty for the wheel as a whole.
        text: What was found, without a final period.
    """

    severity: Severity
    wheel: str
    check: str
    member: str
    text: str

    def __str__(self) -> str:
        """Return the finding as one line for the terminal."""
        place = f"{self.wheel}: {self.member}" if self.member else self.wheel
        return f"{place}: {self.text} [{self.check}]"
