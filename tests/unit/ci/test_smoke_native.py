# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The script for macOS and Windows knows which `jaxlib` of a folder is meant, and what a program showed."""

import hashlib
import json
import platform
import sys
from pathlib import Path

import pytest

from folders import write_program
from pjrtwheel.prove.proof_file import SCHEMA, ProofFile, ProvenWheel, read_proof_file
from pjrtwheel.record.origin import Origin
from pjrtwheel.record.proofs import Level, Outcome, ProgramResult, Proof, ProofMachine, PythonProof
from smoke_native import find_bindings, find_installed, run_program, write_proof

OLD = {"distribution": "jaxlib", "version": "1.9+split.1", "filename": "a.whl"}
NEW = {"distribution": "jaxlib", "version": "1.10", "filename": "b.whl"}
OTHER = {"distribution": "jaxlib-abacus", "version": "1.11", "filename": "c.whl"}


def write_record(dist: Path, *entries: dict[str, str]) -> Path:
    """Write the part of release.json that matters."""
    (dist / "release.json").write_text(json.dumps({"wheels": entries}), "utf-8")
    return dist


def test_the_release_is_found_with_or_without_a_label(tmp_path: Path) -> None:
    """By its name, by the version of one of its sets, or because there is no other."""
    dist = write_record(tmp_path, OLD, NEW, OTHER)
    assert find_bindings(dist, "1.9") == [OLD]
    assert find_bindings(dist, "1.10") == [NEW]
    newer = {**OLD, "version": "1.9+split.2"}
    assert find_bindings(write_record(tmp_path, OLD, newer), "1.9+split.1") == [OLD]
    assert find_bindings(write_record(tmp_path, OLD, OLD, OTHER), None) == [OLD, OLD]


@pytest.mark.parametrize(
    ("entries", "release", "there"),
    [((OLD, NEW), None, "1.10, 1.9+split.1"), ((OLD,), "1.10", "1.9+split.1"), ((OTHER,), None, "none")],
)
def test_what_cannot_be_chosen_is_said(
    tmp_path: Path, entries: tuple[dict[str, str], ...], release: str | None, there: str
) -> None:
    """With what there is to choose from."""
    with pytest.raises(SystemExit) as caught:
        find_bindings(write_record(tmp_path, *entries), release)
    assert caught.value.code == f"--release has to say which jaxlib of {tmp_path} is meant; there are: {there}"


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ("import os; os._exit(0)", "the process ended with status 0 and without a result"),
        ("import os; os._exit(3)", "the process ended with status 3 and without a result"),
        ("import atexit, os; atexit.register(os._exit, 3); return 'x'", "the process ended with status 3"),
    ],
)
def test_a_program_that_ends_early_has_failed(body: str, detail: str, tmp_path: Path) -> None:
    """Also with status 0: it has shown nothing; and a crash at the end is one, whatever was shown before."""
    program = tmp_path / "program.py"
    lines = ["import importlib.metadata", "def check():", "    importlib.metadata.version = str", f"    {body}"]
    program.write_text("\n".join(lines), "utf-8")
    assert run_program(Path(sys.executable), program) == {"outcome": "failed", "detail": detail}


NAME = "jaxlib-1.2.3-cp312-cp312-macosx_11_0_arm64.whl"
WHEEL = {"filename": NAME, "sha256": hashlib.sha256(b"zip").hexdigest(), "tags": ["cp312-cp312-macosx_11_0_arm64"]}
ORIGIN = Origin("c" * 40, dirty=False, version="0", date="2026-11-22T12:00:00Z")


def test_the_tooling_reads_what_the_script_writes(tmp_path: Path) -> None:
    """All that follows from other values is derived there."""
    results = {
        "jit": {"outcome": "passed", "detail": "10 dtypes", "level": "load"},
        "torch": {"outcome": "not run", "detail": "no torch", "level": "load"},
    }
    write_proof(tmp_path / "proofs.json", WHEEL, results, ORIGIN, "A Tester")
    programs = (
        ProgramResult("jit", Outcome.PASSED, Level.LOAD, 0.0, "10 dtypes"),
        ProgramResult("torch", Outcome.NOT_RUN, Level.LOAD, 0.0, "no torch"),
    )
    machine = ProofMachine(platform.platform(), platform.processor() or platform.machine())
    pythons = (PythonProof("cp312", platform.python_version(), programs),)
    proof = Proof(Level.LOAD, None, pythons, ORIGIN, machine=machine)
    expected = ProofFile(SCHEMA, (ProvenWheel(proof, NAME, str(WHEEL["sha256"])),), ORIGIN.date, "A Tester")
    assert read_proof_file(tmp_path / "proofs.json") == expected


def test_the_wheel_that_was_installed_is_found(tmp_path: Path) -> None:
    """By its tags, with the bytes that the record has."""
    (tmp_path / NAME).write_bytes(b"zip")
    other = {**WHEEL, "tags": ["cp313-cp313-macosx_11_0_arm64"]}
    python = write_program(tmp_path / "python", "echo Tag: cp312-cp312-macosx_11_0_arm64")
    assert find_installed(python, [other, WHEEL], tmp_path) == WHEEL
    with pytest.raises(SystemExit, match="has 0 wheels with the tags that were installed"):
        find_installed(python, [other], tmp_path)
    (tmp_path / NAME).write_bytes(b"other")
    with pytest.raises(SystemExit, match=r"is not the file that release\.json describes"):
        find_installed(python, [WHEEL], tmp_path)
