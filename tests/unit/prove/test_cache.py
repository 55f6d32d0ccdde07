# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Evidence is kept, never taken for something it is not, and does not outlive a change of the machine."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel import tables
from pjrtwheel.backend import find_backend
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.prove.inputs import ProofInputs, Target
from pjrtwheel.prove.on_every_python import describe_machine, find_nodes, proof_key, read_proofs
from pjrtwheel.record.origin import Origin
from pjrtwheel.record.proofs import Level, Proof, PythonProof
from pjrtwheel.wheel.report import BuiltWheel, Report

REPORT = Report("a-1-cp312-abi3-linux_x86_64.whl", "00", 1, "ff", (), "prebuilt")
ORIGIN = Origin(None, None, "0.1.0", "2026-11-21T09:40:00Z")
PYTHON = Interpreter(Path("/usr/bin/python3.12"), "cp312", "3.12.1", "/usr")


def test_what_is_started_by_its_path_is_in_the_key(root: Path) -> None:
    """A file that runs inside an environment under test counts wherever a module that proves may start it."""
    package = root / "build/pjrtwheel"
    found = set(ProofInputs(None, (), (), (), ()).files())
    folders = {path.relative_to(package).parts[0] for path in found}
    files = (path for folder in folders for path in (package / folder).rglob("*.py"))
    started = {path for path in files if "inside" in {path.stem, path.parent.name}}
    assert len(started) >= 6
    assert sorted(started - found) == []


def test_every_input_of_the_evidence_changes_its_key(root: Path, tmp_path: Path) -> None:
    """Other bytes, programs, interpreters, requirements, targets, machines, or another NumPy: all change it."""
    program, compiled, folder = tmp_path / "program.py", tmp_path / "compiled.py", tmp_path / "wheelhouse"
    folder.mkdir()
    for path in (program, compiled):
        path.write_text("one")
    wheel = BuiltWheel(Path("a.whl"), REPORT)
    inputs = ProofInputs(None, (program,), (compiled,), (), ("numpy",))
    backend = find_backend(root, "cpu")
    target = Target("chip", "A chip", "cuda", ("sm_90",), {})
    usual: dict[str, Any] = {
        "built": [wheel],
        "inputs": inputs,
        "interpreters": {"cp312": PYTHON},
        "wheelhouses": [folder],
        "machine": [("null", True)],
    }
    changes: list[dict[str, Any]] = [
        {},
        {"built": [wheel._replace(report=replace(REPORT, sha256="11"))]},
        {"interpreters": {"cp312": replace(PYTHON, version="3.12.2")}},
        {"interpreters": {"cp312": None}},
        {"inputs": replace(inputs, requirements=("numpy==2",))},
        {"inputs": replace(inputs, targets=(target,))},
        {"inputs": replace(inputs, backend=backend)},
        {"inputs": replace(inputs, backend=replace(backend, pjrt_name="another"))},
        {"machine": [("null", False)]},
    ]
    keys = [proof_key(**{**usual, **change}) for change in changes]
    for path in (program, compiled):
        path.write_text("two")
        keys.append(proof_key(**usual))
    for content in (b"2.4.0", b"2.4.1"):
        (folder / "numpy.whl").write_bytes(content)
        keys.append(proof_key(**usual))
    assert len(set(keys)) == len(keys)


def test_kept_proofs_are_read_back(tmp_path: Path) -> None:
    """What is read is what was written; nothing is read from a file that is missing or broken."""
    proofs = {"a.whl": Proof(Level.LOAD, "0.115", (PythonProof("cp314", "", (), "no interpreter"),), ORIGIN)}
    path = tmp_path / "key.json"
    assert read_proofs(path) is None
    path.write_text(tables.write_json(proofs))
    assert read_proofs(path) == proofs
    path.write_text('{"a.whl": {"level": "load"}}')
    assert read_proofs(path) is None


def test_a_node_below_a_folder_is_found(tmp_path: Path) -> None:
    """As of a graphics card; a link to one counts like the node itself, but not what each process has anew."""
    (tmp_path / "dri").mkdir()
    (tmp_path / "dri/renderD128").symlink_to(os.devnull)
    (tmp_path / "dri/text").touch()
    (tmp_path / "stdin").symlink_to(os.devnull)
    assert list(find_nodes(tmp_path)) == [("dri/renderD128", True)]
    nodes = dict(find_nodes(Path("/dev")))
    assert (nodes["null"], [name for name in nodes if name.startswith(("pts/", "shm/"))]) == (True, [])


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Return the root of a machine without devices."""
    for folder in ("dev", "etc"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


def test_every_change_is_seen(machine: Path) -> None:
    """A package of the system, a variable, a device: each is another machine."""

    def look(**extra: str) -> str:
        environ = {"LD_LIBRARY_PATH": "/home/lib", "TERM": "xterm"} | extra
        return str(describe_machine(environ, ["ABACUS_"], machine))

    seen = [look(), look(LD_LIBRARY_PATH="/nowhere"), look(ABACUS_BEADS="1")]
    (machine / "etc/ld.so.cache").write_bytes(b"1")
    seen.append(look())
    os.utime(machine / "etc/ld.so.cache", ns=(1, 1))
    seen.append(look())
    (machine / "dev/kfd").symlink_to(os.devnull)
    seen.append(look())
    assert len(set(seen)) == len(seen)
    assert look() == look(TERM="dumb")
