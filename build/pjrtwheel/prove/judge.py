# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Compare what compiling for a chip gave with what the chip's file expects."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pjrtwheel.errors import count
from pjrtwheel.prove.levels import Outcome
from pjrtwheel.prove.targets import Target


@dataclass(frozen=True, slots=True)
class Compilation:
    """What became of one program for one arrangement of chips.

    Attributes:
        program: Name of the program.
        topology: Label of the arrangement.
        devices: How many devices that has; 0 if the process died before it could say so.
        seconds: How long lowering and compiling took.
        code: The chips whose code the executable holds.
        calls: Functions of libraries that it calls.
        error: Why there is no executable; empty otherwise.
    """

    program: str
    topology: str
    devices: int
    seconds: float
    code: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A compilation, and whether it is what was expected.

    Attributes:
        compilation: What was found.
        outcome: Passed; failed as expected; or failed, also where a failure was expected and did not come.
        detail: What is wrong, or the reason of an expected failure.
    """

    compilation: Compilation
    outcome: Outcome
    detail: str = ""

    @property
    def compiled(self) -> bool:
        """Tell whether there is code for the chip."""
        return self.outcome is Outcome.PASSED


@dataclass(frozen=True, slots=True)
class TargetProof:
    """All compilations for one chip.

    Attributes:
        name: The target's name.
        summary: What the chip is.
        code: The code that came out.
        seconds: How long it took, with starting JAX.
        verdicts: One entry per program and arrangement.
    """

    name: str
    summary: str
    code: tuple[str, ...]
    seconds: float
    verdicts: tuple[Verdict, ...]

    @property
    def compiled(self) -> bool:
        """Tell whether any program gave code for this chip; if not, all failures were expected or the proof failed."""
        return any(verdict.compiled for verdict in self.verdicts)

    def failures(self) -> tuple[Verdict, ...]:
        """Return what was not as expected."""
        return tuple(verdict for verdict in self.verdicts if verdict.outcome is Outcome.FAILED)

    def programs(self, outcome: Outcome) -> tuple[str, ...]:
        """Return the programs with this outcome, each once however many arrangements it was compiled for."""
        return tuple(dict.fromkeys(v.compilation.program for v in self.verdicts if v.outcome is outcome))

    def summarize(self) -> str:
        """Return one phrase, such as `sm_90a: 11 programs compiled` or `0 programs compiled; pallas failed as ...`."""
        text = f"{count(len(self.programs(Outcome.PASSED)), 'program')} compiled"
        if self.code:
            text = f"{' '.join(self.code)}: {text}"
        expected = [verdict for verdict in self.verdicts if verdict.outcome is Outcome.EXPECTED]
        if not expected:
            return text
        reasons = "; ".join(dict.fromkeys(verdict.detail for verdict in expected))
        names = ", ".join(self.programs(Outcome.EXPECTED)) if self.compiled else "all"
        return f"{text}, {names} {Outcome.EXPECTED}: {reasons}"

    def to_json(self) -> dict[str, Any]:
        """Return the proof as JSON values."""
        return {
            "target": self.name,
            "summary": self.summary,
            "code": list(self.code),
            "seconds": self.seconds,
            "programs": [
                {
                    "program": verdict.compilation.program,
                    "topology": verdict.compilation.topology,
                    "devices": verdict.compilation.devices,
                    "outcome": verdict.outcome.value,
                    "seconds": verdict.compilation.seconds,
                    "code": list(verdict.compilation.code),
                    "calls": list(verdict.compilation.calls),
                    "error": first_line(verdict.compilation.error),
                    "detail": verdict.detail,
                }
                for verdict in self.verdicts
            ],
        }


def judge(target: Target, compilation: Compilation) -> Verdict:
    """Say whether a compilation is what the target's file expects: code for the chip alone, or a known error."""
    failure = target.failure_of(compilation.program)
    if failure and not compilation.error:
        return Verdict(
            compilation, Outcome.FAILED, f"it compiles, but {target.name}.toml says it does not: {failure.reason}"
        )
    if failure and re.search(failure.pattern, compilation.error):
        return Verdict(compilation, Outcome.EXPECTED, failure.reason)
    if failure:
        return Verdict(
            compilation, Outcome.FAILED, f"another error than {failure.pattern!r}: {first_line(compilation.error)}"
        )
    if compilation.error:
        return Verdict(compilation, Outcome.FAILED, compilation.error)
    if compilation.code != target.code:
        found = ", ".join(compilation.code) or "none"
        return Verdict(compilation, Outcome.FAILED, f"code for {found}, where {', '.join(target.code)} is expected")
    return Verdict(compilation, Outcome.PASSED)


def prove_target(target: Target, compilations: Iterable[Compilation], seconds: float) -> TargetProof:
    """Judge all compilations for one chip."""
    verdicts = tuple(judge(target, compilation) for compilation in compilations)
    code = sorted({name for verdict in verdicts if verdict.compiled for name in verdict.compilation.code})
    return TargetProof(target.name, target.summary, tuple(code), round(seconds, 1), verdicts)


def parse_target_proof(table: dict[str, Any]) -> TargetProof:
    """Turn JSON values back into a proof.

    Raises:
        KeyError: A key is missing.
        ValueError: An outcome is unknown.
    """
    verdicts = tuple(
        Verdict(
            Compilation(
                program=entry["program"],
                topology=entry["topology"],
                devices=entry["devices"],
                seconds=entry["seconds"],
                code=tuple(entry["code"]),
                calls=tuple(entry["calls"]),
                error=entry["error"],
            ),
            Outcome(entry["outcome"]),
            entry["detail"],
        )
        for entry in table["programs"]
    )
    return TargetProof(table["target"], table["summary"], tuple(table["code"]), table["seconds"], verdicts)


def first_line(text: str) -> str:
    """Return the first line of an error; the rest says where it came from."""
    return text.strip().partition("\n")[0]
