# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What became of a program, and the form of a function that runs one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """What became of a program.

    Attributes:
        status: Exit status, negative for a signal; nothing if it was not started or was killed for being slow.
        output: What it printed, with replacements for what is no UTF-8.
        timed_out: Whether it was too slow.
    """

    status: int | None
    output: str = ""
    timed_out: bool = False


Runner = Callable[[Sequence[str], Mapping[str, str], float], Outcome]
