# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""How much is known about a wheel, and by which evidence.

A level is claimed only when a program that shows it has run: nothing is inferred from another wheel or machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from pjrtwheel.errors import count


class Level(StrEnum):
    """The strength of the evidence, weakest first."""

    STATIC = "static"
    LOAD = "load"
    AOT = "aot"
    DEVICE = "device"


ORDER = tuple(Level)


class Outcome(StrEnum):
    """What became of one program; one that failed as expected shows nothing about the wheel, for or against it."""

    PASSED = "passed"
    EXPECTED = "failed as expected"
    FAILED = "failed"
    NOT_RUN = "not run"


class Kind(StrEnum):
    """What a result is of."""

    PROGRAM = "program"
    TARGET = "target"
    CHECK = "check"


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """One program on one interpreter: a smoke program, all that was compiled for one target, or a check.

    Attributes:
        program: Name of the program, such as `linalg`.
        outcome: What became of it.
        level: What it shows when it passes.
        seconds: How long it ran.
        detail: Why it failed or did not run; its evidence when it passed.
        kind: Whether it was one program, all that was compiled for one target, or a check of the library.
    """

    program: str
    outcome: Outcome
    level: Level
    seconds: float
    detail: str
    kind: Kind = Kind.PROGRAM


@dataclass(frozen=True, slots=True)
class PythonProof:
    """All programs on one interpreter.

    Attributes:
        python: Tag of the interpreter, such as `cp312`.
        interpreter: Its full version, or empty when there is none on this machine.
        results: One entry per program; empty when nothing ran.
        reason: Why nothing ran; empty otherwise.
        missed: Why each higher level could not be shown here, as `device: no NVIDIA GPU found`.
    """

    python: str
    interpreter: str
    results: tuple[ProgramResult, ...]
    reason: str = ""
    missed: tuple[str, ...] = ()

    def failures(self) -> tuple[ProgramResult, ...]:
        """Return the programs that failed."""
        return tuple(result for result in self.results if result.outcome is Outcome.FAILED)

    def level(self) -> Level:
        """Return the highest level shown here: that of a passed program, when none failed."""
        return (
            Level.STATIC
            if self.failures()
            else highest(result.level for result in self.results if result.outcome is Outcome.PASSED)
        )

    def summary(self) -> str:
        """Return one phrase for the table, such as `15 programs passed` or `not run: no interpreter`."""
        if not self.results:
            return f"{Outcome.NOT_RUN}: {self.reason}"
        counts = Counter((result.kind, result.outcome) for result in self.results)
        return ", ".join(
            f"{count(counts[kind, outcome], kind)} {outcome}"
            for kind in Kind
            for outcome in Outcome
            if counts[kind, outcome]
        )


def highest(levels: Iterable[Level]) -> Level:
    """Return the strongest of some levels, and `static` for none.

    >>> highest([Level.LOAD, Level.DEVICE, Level.AOT]).value
    'device'
    >>> highest([]).value
    'static'
    """
    return max(levels, key=ORDER.index, default=Level.STATIC)
