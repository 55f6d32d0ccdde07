# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Wheels as a build gives them to `dist/`, with report and proof, and proofs of every kind."""

import hashlib
from pathlib import Path

from pjrtwheel.record.entries import Entry
from pjrtwheel.record.origin import Origin
from pjrtwheel.record.proofs import Level, Outcome, ProgramResult, Proof, PythonProof, ResultKind, TargetProof
from pjrtwheel.wheel.report import BuiltWheel, Report
from release_entries import entry_of

ORIGIN = Origin("0" * 40, dirty=False, version="0.1.0", date="2026-11-21T09:40:00Z")


def make_wheel(folder: Path, name: str, content: bytes = b"zip", lock: str = "ff") -> tuple[BuiltWheel, Proof]:
    """Write a file in place of a wheel, with its report and proof."""
    filename = f"{name}-1.0-cp312-abi3-manylinux_2_27_x86_64.whl"
    path = folder / filename
    path.write_bytes(content)
    report = Report(
        filename=filename,
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        requires=("jaxlib==1.0",),
        lock_id=lock,
        provider="prebuilt",
        provenance={"project": "upstream"},
        changes={"a.so": ("dropped .symtab",)},
        stripped_bytes=7,
        gpu_code=("sm_90",),
    )
    pythons = (PythonProof("cp314", "", (), "no interpreter"),)
    return BuiltWheel(path, report), Proof(
        Level.LOAD, "0.115", pythons, ORIGIN, backend="cpu", pjrt_attributes={"xla_version": "2"}
    )


def make_small_entry(filename: str, distribution: str = "jaxlib", version: str = "1", lock_id: str = "a") -> Entry:
    """Return an entry of which only the name of the wheel matters, and to what it belongs."""
    proof = Proof(Level.STATIC, None, (), ORIGIN)
    what = {"filename": filename, "distribution": distribution, "version": version}
    return entry_of("jaxlib-1-py3-none-any.whl", lock_id=lock_id, proof=proof, **what)


RAN = PythonProof("cp312", "3.12.1", (ProgramResult("jit", Outcome.PASSED, Level.DEVICE, 1.0, ""),))
FAILED = PythonProof("cp312", "3.12.1", (ProgramResult("jit", Outcome.FAILED, Level.DEVICE, 1.0, "no bead"),))
COMPILED = PythonProof(
    "cp312", "3.12.1", (ProgramResult("aot h100", Outcome.PASSED, Level.AOT, 1.0, "", ResultKind.TARGET),)
)
MISSED = PythonProof(
    "cp312", "3.12.1", (), "load: no libamdhip64.so", ("device: no AMD GPU", "load: no libamdhip64.so")
)
UNTRIED = PythonProof("cp312", "", (), "smoke tests switched off")


def make_proof(
    level: Level,
    *pythons: PythonProof,
    backend: str | None = "cpu",
    date: str = ORIGIN.date,
    targets: tuple[TargetProof, ...] = (),
) -> Proof:
    """Return a proof of some wheel."""
    return Proof(level, "0.115", pythons, Origin(None, None, "0.1.0", date), targets, backend)
