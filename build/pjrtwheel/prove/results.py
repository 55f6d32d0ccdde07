# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is known about each wheel after proving, and its JSON form for `release.json` and the cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pjrtwheel.prove.judge import TargetProof, parse_target_proof
from pjrtwheel.prove.levels import ORDER, Kind, Level, Outcome, ProgramResult, PythonProof
from pjrtwheel.prove.origin import Origin


@dataclass(frozen=True, slots=True)
class Proof:
    """The evidence about one wheel.

    Attributes:
        wheel: File name.
        level: The strongest evidence there is.
        pjrt_api: Version of the plugin's PJRT API as the library itself says, or nothing when it was not opened.
        pythons: One entry per Python of the release that this wheel is for.
        origin: Who found this out, and when.
        targets: What was compiled ahead of time, in full, on the first Python; empty unless the wheel has a plugin.
        backend: With which plugin it was proven; nothing for bindings by themselves.
    """

    wheel: str
    level: Level
    pjrt_api: str | None
    pythons: tuple[PythonProof, ...]
    origin: Origin
    targets: tuple[TargetProof, ...] = ()
    backend: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the proof as JSON values."""
        return {
            "wheel": self.wheel,
            "backend": self.backend,
            "level": self.level.value,
            "origin": asdict(self.origin),
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
                            "kind": result.kind.value,
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
        TypeError: The origin lacks a key, or has one too many.
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
                        kind=Kind(result["kind"]),
                    )
                    for result in entry["programs"]
                ),
                reason=entry["reason"],
                missed=tuple(entry["missed"]),
            )
            for entry in table["pythons"]
        ),
        targets=tuple(parse_target_proof(target) for target in table["targets"]),
        backend=table["backend"],
        origin=Origin(**table["origin"]),
    )


def explain_level(proofs: Sequence[Proof]) -> str:
    """Say in one line why a plugin is not proven on a device, as `cuda13: aot, not device: no NVIDIA GPU found`.

    Args:
        proofs: Those of the wheels of one set.

    Returns:
        Nothing for a plugin that is, and for bindings alone, which have no device.
    """
    proof = max(proofs, key=lambda proof: ORDER.index(proof.level))
    if proof.backend is None or proof.level is Level.DEVICE:
        return ""
    missed = dict.fromkeys(reason for python in proof.pythons for reason in python.missed)
    reasons = [f"not {reason}" for reason in missed]
    reasons = reasons or [f"no program ran: {reason}" for reason in dict.fromkeys(p.reason for p in proof.pythons)]
    return f"{proof.backend}: {proof.level}, {'; '.join(reasons)}"
