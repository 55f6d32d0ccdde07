# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which proofs of the same wheel are kept: a weaker one never takes the place of a better one, in whatever order."""

from __future__ import annotations

from collections.abc import Iterable

from pjrtwheel import tables
from pjrtwheel.prove.level import ORDER
from pjrtwheel.prove.results import Outcome, Proof, PythonProof

_NOTHING = (0, 0, 0, 0)  # the strength of a proof for which nothing was tried


def choose_proofs(proofs: Iterable[Proof]) -> list[Proof]:
    """Return the best proofs of one wheel, the strongest first: one with each backend, and none that shows nothing.

    Programs that ran on a device do not take away for which chips others were compiled: both proofs stay then.

    Args:
        proofs: At least one; where all of them show nothing, one is kept.
    """
    ranked = sorted(proofs, key=_rank)
    best = {proof.backend: proof for proof in ranked}
    compiled = {proof.backend: proof for proof in sorted(ranked, key=lambda proof: len(compiled_chips(proof)))}
    kept = [
        *best.values(),
        *(proof for name, proof in compiled.items() if compiled_chips(proof) and proof != best[name]),
    ]
    useful = [proof for proof in kept if _strength(proof) > _NOTHING] or ranked[-1:]
    by_name = sorted(useful, key=lambda proof: proof.backend or "")
    return sorted(by_name, key=_strength, reverse=True)


def compiled_chips(proof: Proof) -> list[str]:
    """Return the chips for which code came out ahead of time."""
    return [target.name for target in proof.targets if target.code]


def was_tried(proof: Proof) -> bool:
    """Return whether a program ran for a proof, or was found not to be able to run."""
    return bool(_pythons_tried(proof))


def _rank(proof: Proof) -> tuple[tuple[int, ...], str, str]:
    """Return what to order proofs of the same bytes by: how much they show, then the later one last."""
    return _strength(proof), proof.origin.date, tables.write_json(proof)


def _strength(proof: Proof) -> tuple[int, int, int, int]:
    """Return how much a proof shows: the level, then on how many Pythons, for how many chips, by how many programs."""
    outcomes = [result.outcome for python in proof.pythons for result in python.results]
    passed = outcomes.count(Outcome.PASSED)
    return ORDER.index(proof.level), len(_pythons_tried(proof)), len(compiled_chips(proof)), passed


def _pythons_tried(proof: Proof) -> list[PythonProof]:
    return [python for python in proof.pythons if python.results or python.missed]
