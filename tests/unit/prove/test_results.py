# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Proofs survive their JSON form."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pjrtwheel.prove.judge import Compilation, TargetProof, Verdict
from pjrtwheel.prove.levels import Kind, Level, Outcome, ProgramResult, PythonProof
from pjrtwheel.prove.origin import Origin
from pjrtwheel.prove.record import Proof, explain_level, parse_proof

CHECK = ProgramResult("conformance", Outcome.EXPECTED, Level.LOAD, 0.1, "", Kind.CHECK)
PROOF = Proof(
    wheel="jaxlib_cpu-1.0-cp312-abi3-manylinux_2_27_x86_64.whl",
    level=Level.DEVICE,
    pjrt_api="0.115",
    pythons=(
        PythonProof("cp312", "3.12.1", (ProgramResult("jit", Outcome.PASSED, Level.DEVICE, 1.5, "10 dtypes"), CHECK)),
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
    backend="cpu",
    origin=Origin("0" * 40, dirty=True, version="0.1.0", date="2026-11-21T09:40:00Z"),
)


def test_a_proof_survives_its_json_form() -> None:
    """What is read back is what was written."""
    for proof in (PROOF, replace(PROOF, backend=None)):
        assert parse_proof(json.loads(json.dumps(proof.to_json()))) == proof


def test_an_unknown_level_is_refused() -> None:
    """A document of a later version does not pass for less evidence than it holds."""
    with pytest.raises(ValueError, match="'quantum' is not a valid Level"):
        parse_proof({**PROOF.to_json(), "level": "quantum"})


GPU = "device: no GPU found"
MISSED = PythonProof("cp312", "3.12.1", (CHECK,), "", (GPU, "aot: no targets"))
GONE = PythonProof("cp314", "", (), "no interpreter")


@pytest.mark.parametrize(
    ("level", "backend", "pythons", "line"),
    [
        (Level.DEVICE, "cuda13", (MISSED,), ""),
        (Level.AOT, "cuda13", (replace(MISSED, missed=(GPU,)), GONE), "cuda13: aot, not device: no GPU found"),
        (Level.LOAD, "oneapi", (MISSED, MISSED), "oneapi: load, not device: no GPU found; not aot: no targets"),
        (Level.STATIC, "cpu", (GONE, GONE), "cpu: static, no program ran: no interpreter"),
        (Level.LOAD, None, (GONE,), ""),
    ],
    ids=["device", "aot", "load", "nothing ran", "bindings"],
)
def test_why_a_plugin_is_not_proven_on_a_device(
    level: Level, backend: str | None, pythons: tuple[PythonProof, ...], line: str
) -> None:
    """One line for a set, by its strongest proof; nothing where there is no more to be had."""
    proof = Proof("a.whl", level, None, pythons, PROOF.origin, backend=backend)
    assert explain_level([replace(proof, level=Level.STATIC, pythons=(GONE,)), proof]) == line
