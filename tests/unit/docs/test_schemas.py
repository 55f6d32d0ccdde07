# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The JSON Schemas of the repository, which users validate documents against."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest

from pjrtwheel.docs.schemas import RELEASE_SCHEMA, main, render_schemas
from pjrtwheel.json_schema import describe_attributes
from pjrtwheel.prove.level import Level
from pjrtwheel.prove.origin import Origin
from pjrtwheel.prove.results import Compilation, Outcome, ProgramResult, Proof, PythonProof, TargetProof
from pjrtwheel.publish.release_file import Entry, ReleaseFile, format_entries

RESULT = ProgramResult("jit", Outcome.PASSED, Level.DEVICE, 1.5, "10 dtypes")
PROOF = Proof(
    level=Level.DEVICE,
    pjrt_api="0.115",
    pythons=(PythonProof("cp312", "3.12.1", (RESULT,)), PythonProof("cp313t", "", (), "no interpreter")),
    origin=Origin("0" * 40, dirty=True, version="0.1.0", date="2026-11-21T09:40:00Z"),
    targets=(TargetProof("h100", "H100", ("sm_90a",), 5.5, (Compilation("sort", "single", 1, 0.5),)),),
    backend="cpu",
)
ENTRY = Entry("a.whl", "a", "1", "00", 1, ("py3-none-any",), "", 0, (), PROOF, (PROOF,), changes={"a.so": ("x",)})


def test_the_schemas_are_up_to_date(root: Path, tmp_path: Path) -> None:
    """`nox -s update_schemas` writes what is in the repository."""
    (tmp_path / "docs").mkdir()
    assert main(["--root", str(tmp_path)]) == 0
    for path, text in render_schemas().items():
        assert (tmp_path / path).read_text("utf-8") == text
        assert (root / path).read_text("utf-8") == text, f"{path} is out of date: ./noxw -s update_schemas"


@pytest.mark.parametrize("damage", ["", "proof", "filename", "size"])
def test_only_whole_entries_fit(root: Path, damage: str) -> None:
    """Every key that is written is required."""
    schema = json.loads((root / RELEASE_SCHEMA).read_text("utf-8"))
    document = json.loads(format_entries({"a.whl": ENTRY}))
    if damage:
        del document["wheels"][0][damage]
    assert jsonschema.Draft202012Validator(schema).is_valid(document) is (not damage)


@pytest.mark.parametrize(
    "kind", [ReleaseFile, Entry, Proof, PythonProof, ProgramResult, TargetProof, Compilation, Origin]
)
def test_every_key_is_described(kind: type) -> None:
    """By the docstring of its dataclass, which the schema repeats."""
    assert list(describe_attributes(kind)) == [entry.name for entry in fields(kind)]
