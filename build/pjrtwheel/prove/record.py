# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is known about each wheel after proving, and its JSON form for `release.json` and the cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pjrtwheel.prove.judge import TargetProof, parse_target_proof
from pjrtwheel.prove.levels import Level, Outcome, ProgramResult, PythonProof


@dataclass(frozen=True, slots=True)
class Proof:
    """The evidence about one wheel.

    Attributes:
        wheel: File name.
        level: The strongest evidence there is.
        pjrt_api: Version of the plugin's PJRT API as the library itself says, or nothing when it was not opened.
        pythons: One entry per Python of the release that this wheel is for.
        targets: What was compiled ahead of time, in full, on the first Python; empty unless the wheel has a plugin.
    """

    wheel: str
    level: Level
    pjrt_api: str | None
    pythons: tuple[PythonProof, ...]
    targets: tuple[TargetProof, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the proof as JSON values."""
        return {
            "wheel": self.wheel,
            "level": self.level.value,
            "pjrt_api": self.pjrt_api,
            "pythons": [
                {
                    "python": entry.python,
                    "interpreter": entry.interpreter,
                    "level": entry.level().value,
                    "summary": entry.summary(),
                    "reason": entry.reason,
                    "missed": list(entry.missed),
                    "programs": [
                        {
                            "program": result.program,
                            "outcome": result.outcome.value,
                            "level": result.level.value,
                            "seconds": result.seconds,
                            "detail": result.detail,
                        }
                        for result in entry.results
                    ],
                }
                for entry in self.pythons
            ],
            "targets": [target.to_json() for target in self.targets],
        }


def parse_proof(table: dict[str, Any]) -> Proof:
    """Turn JSON values back into a proof.

    Raises:
        KeyError: A key is missing.
        ValueError: A level or outcome is unknown.
    """
    return Proof(
        wheel=table["wheel"],
        level=Level(table["level"]),
        pjrt_api=table["pjrt_api"],
        pythons=tuple(
            PythonProof(
                python=entry["python"],
                interpreter=entry["interpreter"],
                results=tuple(
                    ProgramResult(
                        program=result["program"],
                        outcome=Outcome(result["outcome"]),
                        level=Level(result["level"]),
                        seconds=result["seconds"],
                        detail=result["detail"],
                    )
                    for result in entry["programs"]
                ),
                reason=entry["reason"],
                missed=tuple(entry["missed"]),
            )
            for entry in table["pythons"]
        ),
        targets=tuple(parse_target_proof(target) for target in table["targets"]),
    )
