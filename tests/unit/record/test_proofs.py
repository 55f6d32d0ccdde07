# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What evidence amounts to, and that proofs survive their JSON form."""

from dataclasses import replace

import pytest

from pjrtwheel import tables
from pjrtwheel.record.origin import Origin
from pjrtwheel.record.proofs import (
    Compilation,
    Level,
    Outcome,
    ProgramResult,
    Proof,
    PythonProof,
    ResultKind,
    TargetProof,
    explain_level,
)

CHECK = ProgramResult("conformance", Outcome.EXPECTED, Level.LOAD, 0.1, "", ResultKind.CHECK)
PROOF = Proof(
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
            (Compilation("sort", "single", 1, 0.5, ("sm_90a",), ("cub",), outcome=Outcome.PASSED),),
        ),
    ),
    backend="cpu",
    origin=Origin("0" * 40, dirty=True, version="0.1.0", date="2026-11-21T09:40:00Z"),
)


def test_a_proof_survives_its_json_form() -> None:
    """What is read back is what was written."""
    for proof in (PROOF, replace(PROOF, backend=None)):
        assert tables.read_json(Proof, tables.write_json(proof)) == proof
    with pytest.raises(tables.TableError, match="quantum"):  # a later version must not pass for less than it holds
        tables.read(Proof, {**tables.write(PROOF), "level": "quantum"})


def test_one_emulated_python_makes_the_machine_an_emulated_one() -> None:
    """It is said behind every level; without the key, as before there was one, a proof is of a real machine."""
    emulated = replace(PROOF, pythons=(replace(PROOF.pythons[0], emulated=True), *PROOF.pythons[1:]))
    assert (PROOF.describe_level(), emulated.describe_level()) == ("device", "device (emulated)")
    assert tables.read_json(Proof, tables.write_json(emulated)) == emulated
    table = tables.write(PROOF)
    del table["emulated"]
    for python in table["pythons"]:
        del python["emulated"]
    assert tables.read(Proof, table) == PROOF


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
    proof = Proof(level, None, pythons, PROOF.origin, backend=backend)
    assert explain_level({"a.whl": replace(proof, level=Level.STATIC, pythons=(GONE,)), "b.whl": proof}) == line


def result(outcome: Outcome, level: Level = Level.DEVICE, kind: ResultKind = ResultKind.PROGRAM) -> ProgramResult:
    """Return a result of some program."""
    return ProgramResult("program", outcome, level, 1.0, "", kind)


@pytest.mark.parametrize(
    ("results", "level"),
    [
        ([], Level.STATIC),
        ([result(Outcome.NOT_RUN)], Level.STATIC),
        ([result(Outcome.PASSED, Level.LOAD)], Level.LOAD),
        ([result(Outcome.PASSED, Level.AOT), result(Outcome.NOT_RUN, Level.DEVICE)], Level.AOT),
        ([result(Outcome.PASSED, Level.DEVICE), result(Outcome.PASSED, Level.AOT)], Level.DEVICE),
        ([result(Outcome.PASSED, Level.DEVICE), result(Outcome.FAILED, Level.LOAD)], Level.STATIC),
        ([result(Outcome.EXPECTED, Level.AOT), result(Outcome.PASSED, Level.LOAD)], Level.LOAD),
    ],
    ids=["nothing", "not run", "load", "aot, device not run", "device", "one failure", "aot failed as expected"],
)
def test_only_what_passed_counts(results: list[ProgramResult], level: Level) -> None:
    """A level needs a program that shows it and has run; a failure anywhere leaves nothing."""
    assert PythonProof("cp312", "3.12.1", tuple(results)).level is level


def test_the_summary_counts_outcomes() -> None:
    """Outcomes that did not occur are left out; what is counted is said, and an expected failure did not pass."""
    results = (
        result(Outcome.PASSED),
        result(Outcome.NOT_RUN),
        result(Outcome.PASSED),
        result(Outcome.EXPECTED, kind=ResultKind.TARGET),
        result(Outcome.PASSED, kind=ResultKind.CHECK),
    )
    expected = "2 programs passed, 1 program not run, 1 target failed as expected, 1 check passed"
    assert PythonProof("cp312", "3.12.1", results).summary == expected
