# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Evidence is kept, and never taken for something it is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.backend import find_backend
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.errors import ProofError
from pjrtwheel.prove import platform_of
from pjrtwheel.prove.levels import Level, Outcome, ProgramResult, PythonProof
from pjrtwheel.prove.machine import Machine
from pjrtwheel.prove.material import Material
from pjrtwheel.prove.origin import Origin
from pjrtwheel.prove.record import Proof
from pjrtwheel.prove.store import evidence_key, find_cause, raise_failures, read_proofs, write_proofs
from pjrtwheel.prove.targets import Target
from pjrtwheel.wheel.report import BuiltWheel, Report

REPORT = Report("a.whl", "a", "1", "cp312-abi3-linux_x86_64", "00", 1, (), "ff", "prebuilt", {}, {}, 0)
ORIGIN = Origin(None, None, "0.1.0", "2026-11-21T09:40:00Z")
MACHINE = Machine((("null", True),), (), (), "0.1.1")
PYTHON = Interpreter(Path("/usr/bin/python3.12"), "cp312", "3.12.1", "/usr")


def test_every_input_of_the_evidence_changes_its_key(root: Path, tmp_path: Path) -> None:
    """Other bytes, programs, interpreters, requirements, targets, facts, machines, or another NumPy: all change it."""
    program, compiled, house = tmp_path / "program.py", tmp_path / "compiled.py", tmp_path / "house"
    house.mkdir()
    for path in (program, compiled):
        path.write_text("one")
    wheel = BuiltWheel(Path("a.whl"), REPORT)
    material = Material(None, (program,), (compiled,), (), ("numpy",))
    backend = find_backend(root, "cpu")
    target = Target("chip", "A chip", "cuda", ("sm_90",), (), {}, {}, {})
    usual: dict[str, Any] = {
        "built": [wheel],
        "material": material,
        "interpreters": {"cp312": PYTHON},
        "houses": [house],
        "machine": MACHINE,
    }
    changes: list[dict[str, Any]] = [
        {},
        {"built": [replace(wheel, report=replace(REPORT, sha256="11"))]},
        {"interpreters": {"cp312": replace(PYTHON, version="3.12.2")}},
        {"interpreters": {"cp312": None}},
        {"material": replace(material, requirements=("numpy==2",))},
        {"material": replace(material, targets=(target,))},
        {"material": replace(material, backend=backend)},
        {"material": replace(material, backend=replace(backend, pjrt_name="another"))},
        {"machine": replace(MACHINE, nodes=(("null", True), ("dri/renderD128", True)))},
        {"machine": replace(MACHINE, nodes=(("null", False),))},
        {"machine": replace(MACHINE, libraries=(("/opt/vendor/lib/libone.so", 1),))},
        {"machine": replace(MACHINE, environ=(("LD_LIBRARY_PATH", "/opt"),))},
        {"machine": replace(MACHINE, checker="0.2")},
    ]
    keys = [evidence_key(**{**usual, **change}) for change in changes]
    for path in (program, compiled):
        path.write_text("two")
        keys.append(evidence_key(**usual))
    for content in (b"2.4.0", b"2.4.1"):
        (house / "numpy.whl").write_bytes(content)
        keys.append(evidence_key(**usual))
    assert len(set(keys)) == len(keys)


def test_kept_proofs_are_read_back(tmp_path: Path) -> None:
    """What is read is what was written; nothing is read from a file that is missing or broken."""
    proofs = (Proof("a.whl", Level.LOAD, "0.115", (PythonProof("cp314", "", (), "no interpreter"),), ORIGIN),)
    path = tmp_path / "proofs" / "key.json"
    assert read_proofs(path) is None
    write_proofs(path, proofs)
    assert read_proofs(path) == proofs
    path.write_text('[{"wheel": "a.whl"}]')
    assert read_proofs(path) is None


def test_failures_are_named_and_kept_in_full(tmp_path: Path) -> None:
    """The message tells the first failure and counts the others; the whole output is in the file that it names."""
    result = ProgramResult("fft", Outcome.FAILED, Level.DEVICE, 1.0, "Traceback\n  in check\nAssertionError: 1 != 2")
    log = tmp_path / "proofs" / "failed.txt"
    with pytest.raises(ProofError) as caught:
        raise_failures([PythonProof("cp312", "3.12.1", (result,)), PythonProof("cp314", "", (), "none")], log)
    assert caught.value.what == "program failed: fft on Python 3.12.1"
    assert caught.value.cause == "AssertionError: 1 != 2"
    assert caught.value.remedy == f"the whole output of all that failed is in {log}"
    assert log.read_text() == "fft on Python 3.12.1\nTraceback\n  in check\nAssertionError: 1 != 2\n"


CRASHED = """killed by SIGSEGV
Fatal Python error: Segmentation fault

Current thread 0x00007f (most recent call first):
  File "fft.py", line 3 in check

Extension modules: numpy, jaxlib (total: 2)"""
RAISED = """Traceback (most recent call last):
  File "fft.py", line 3, in check
    f(x)
jax.errors.JaxRuntimeError: UNIMPLEMENTED: no callbacks
jaxlib/py_client.cc:425

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "fft.py", line 5, in check
    ~^^^
jax.errors.JaxRuntimeError: INTERNAL: no bead
jaxlib/py_client.cc:425"""


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            RAISED.format(last="jax.errors.JaxRuntimeError: INTERNAL: no bead"),
            "jax.errors.JaxRuntimeError: INTERNAL: no bead",
        ),
        (CRASHED, "killed by SIGSEGV"),
        ("exit status 3\nit is broken", "it is broken"),
    ],
    ids=["raised", "crashed", "ended"],
)
def test_the_line_that_tells_the_most_is_shown(text: str, cause: str) -> None:
    """Libraries write below an exception where in their source it began, which tells users nothing."""
    assert find_cause(text) == cause


def test_many_failures_without_output_are_three_lines(tmp_path: Path) -> None:
    """A program may fail without a word."""
    results = tuple(ProgramResult(name, Outcome.FAILED, Level.DEVICE, 1.0, "") for name in ("fft", "jit", "sort"))
    with pytest.raises(ProofError) as caught:
        raise_failures([PythonProof("cp312", "3.12.1", results)], tmp_path / "log")
    assert str(caught.value).splitlines() == [
        "program failed: fft on Python 3.12.1, and 2 more",
        "it left no output",
        f"the whole output of all that failed is in {tmp_path / 'log'}",
    ]


def test_nothing_is_raised_when_nothing_failed(tmp_path: Path) -> None:
    """Programs that did not run are no failures."""
    raise_failures([PythonProof("cp314", "", (), "no interpreter")], tmp_path / "log")
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize("tags", [[], ["py3-none-any"], ["cp312-abi3-linux_x86_64", "cp312-abi3-linux_aarch64"]])
def test_a_set_is_for_one_platform(tags: list[str]) -> None:
    """None, an unknown one, and several are errors."""
    with pytest.raises(ProofError, match="wheels of one set must be for one platform"):
        platform_of(Path(f"a-1-{tag}.whl") for tag in tags)
