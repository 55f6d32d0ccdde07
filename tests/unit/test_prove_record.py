# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Proofs survive their JSON form."""

from __future__ import annotations

import json

import pytest

from pjrtwheel.prove.judge import Compilation, TargetProof, Verdict
from pjrtwheel.prove.levels import Level, Outcome, ProgramResult, PythonProof
from pjrtwheel.prove.record import Proof, parse_proof

PROOF = Proof(
    wheel="jaxlib_cpu-1.0-cp312-abi3-manylinux_2_27_x86_64.whl",
    level=Level.DEVICE,
    pjrt_api="0.115",
    pythons=(
        PythonProof("cp312", "3.12.1", (ProgramResult("jit", Outcome.PASSED, Level.DEVICE, 1.5, "10 dtypes"),)),
        PythonProof("cp313", "3.13.0", (), "load: no library", ("device: no GPU", "load: no library")),
        PythonProof("cp314", "", (), "no interpreter"),
    ),
    targets=(
        TargetProof(
            "h100",
            "H100",
            ("sm_90a",),
            5.5,
            (Verdict(Compilation("sort", "single", 1, 0.5, ("sm_90a",), ("cub",)), Outcome.PASSED),),
        ),
    ),
)


def test_a_proof_survives_its_json_form() -> None:
    """What is read back is what was written."""
    assert parse_proof(json.loads(json.dumps(PROOF.to_json()))) == PROOF


def test_an_unknown_level_is_refused() -> None:
    """A document of a later version does not pass for less evidence than it holds."""
    with pytest.raises(ValueError, match="'quantum' is not a valid Level"):
        parse_proof({**PROOF.to_json(), "level": "quantum"})
