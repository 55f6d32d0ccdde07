# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The proof that is written on macOS and Windows is one that the tooling takes in."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

import native_proof
from native_proof import find_installed, find_origin, find_signer, write_proof
from pjrtwheel.errors import UsageError
from pjrtwheel.prove import proof_file
from pjrtwheel.prove.proof_file import SCHEMA, ProofFile, ProvenWheel, read_proof_file
from pjrtwheel.record import origin
from pjrtwheel.record.origin import Origin
from pjrtwheel.record.proofs import Level, Outcome, ProgramResult, Proof, ProofMachine, PythonProof

NAME = "jaxlib-1.2.3-cp312-cp312-macosx_11_0_arm64.whl"
WHEEL = {"filename": NAME, "sha256": hashlib.sha256(b"zip").hexdigest(), "tags": ["cp312-cp312-macosx_11_0_arm64"]}
ORIGIN = {"commit": "c" * 40, "dirty": False, "version": "0", "date": "2026-11-22T12:00:00Z"}


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
    proof = Proof(Level.LOAD, None, pythons, Origin(**ORIGIN), machine=machine)  # type: ignore[arg-type]
    expected = ProofFile(SCHEMA, (ProvenWheel(proof, NAME, str(WHEEL["sha256"])),), str(ORIGIN["date"]), "A Tester")
    assert read_proof_file(tmp_path / "proofs.json", datetime(2026, 11, 22, 12, 1, tzinfo=UTC)) == expected


def write_python(folder: Path, *tags: str) -> Path:
    """Write a program in the place of a Python into which a wheel with some tags was installed."""
    path = folder / "python"
    lines = "".join(f"Tag: {tag}\n" for tag in tags)
    path.write_text(f"#!/bin/sh\nprintf %s '{lines}'\n")
    path.chmod(0o755)
    return path


def test_the_wheel_that_was_installed_is_found(tmp_path: Path) -> None:
    """By its tags, with the bytes that the record has."""
    (tmp_path / NAME).write_bytes(b"zip")
    other = {**WHEEL, "tags": ["cp313-cp313-macosx_11_0_arm64"]}
    python = write_python(tmp_path, "cp312-cp312-macosx_11_0_arm64")
    assert find_installed(python, [other, WHEEL], tmp_path) == WHEEL
    with pytest.raises(SystemExit, match="has 0 wheels with the tags that were installed"):
        find_installed(python, [other], tmp_path)
    (tmp_path / NAME).write_bytes(b"other")
    with pytest.raises(SystemExit, match=r"is not the file that release\.json describes"):
        find_installed(python, [WHEEL], tmp_path)


def test_origin_and_signer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As the tooling finds them."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    found = Origin(**find_origin())
    assert (found.date, bool(found.version)) == ("1970-01-01T00:00:00Z", True)
    assert find_signer("A Tester") == "A Tester"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (find_origin()["commit"], find_origin()["dirty"]) == (None, None)
    with pytest.raises(SystemExit, match="nobody signs off"):
        find_signer(None)


@pytest.fixture
def small_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that both look at, with the one file that is read there; git has no settings of a person."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    root = tmp_path / "outer" / "root"
    root.mkdir(parents=True)
    (root / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n', "utf-8")
    monkeypatch.setattr(native_proof, "ROOT", root)
    return root


def commit_all(root: Path) -> str:
    """Make a repository of a folder, with a user, and return its commit."""
    user = ("-c", "user.name=A Tester", "-c", "user.email=a@example.org")
    for command in (["init", "--quiet"], ["add", "."], [*user, "commit", "--quiet", "--message=A"]):
        subprocess.run(["git", "-C", str(root), *command], check=True)
    asked = subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    return asked.stdout.strip()


def set_user(root: Path, name: str, address: str) -> None:
    """Write who commits into a repository's own settings, which go before those of the machine."""
    for key, value in (("name", name), ("email", address)):
        subprocess.run(["git", "-C", str(root), "config", f"user.{key}", value], check=True)


@pytest.mark.parametrize("state", ["clean", "dirty", "untracked", "outside git", "inside another repository"])
def test_the_origin_is_that_of_the_tooling(small_root: Path, state: str) -> None:
    """The code exists twice, because the script runs where only the standard library is."""
    commit: str | None = None
    if state == "inside another repository":  # a copy without git, such as an unpacked archive
        (small_root.parent / "file").touch()
        commit_all(small_root.parent)
    elif state != "outside git":
        commit = commit_all(small_root)
    if state == "dirty":
        (small_root / "pyproject.toml").write_text('[project]\nversion = "1.2.4"\n', "utf-8")
    elif state == "untracked":
        (small_root / "new").touch()
    dirty = state in {"dirty", "untracked"} if commit else None
    version = "1.2.4" if state == "dirty" else "1.2.3"
    expected = Origin(commit, dirty, version, "1970-01-01T00:00:00Z")
    assert (Origin(**find_origin()), origin.find_origin(small_root, os.environ)) == (expected, expected)


@pytest.mark.parametrize(
    ("address", "signer"), [("a@example.org", "A Tester <a@example.org>"), ("", "A Tester")], ids=["address", "name"]
)
def test_the_signer_is_that_of_the_tooling(small_root: Path, address: str, signer: str) -> None:
    """Git's user, unless somebody is named; without either nobody signs."""
    commit_all(small_root)
    set_user(small_root, "", "")
    with pytest.raises(SystemExit, match="nobody signs off"):
        find_signer(None)
    with pytest.raises(UsageError, match="nobody signs off"):
        proof_file.find_signer(small_root, None)
    set_user(small_root, "A Tester", address)
    assert (find_signer(None), proof_file.find_signer(small_root, None)) == (signer, signer)
    assert find_signer("Another") == proof_file.find_signer(small_root, "Another") == "Another"
