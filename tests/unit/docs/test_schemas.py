# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The JSON Schemas of the repository, which users validate documents against."""

from __future__ import annotations

import contextlib
import json
from dataclasses import fields
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest

from jaxlib_select.errors import MachineError
from jaxlib_select.machine.file import from_json, to_json
from jaxlib_select.machine.model import Amd, Devices, Intel, Machine, Nvidia, NvidiaGpu
from pjrtwheel.docs.schemas import MACHINE_SCHEMA, RELEASE_SCHEMA, render_schemas
from pjrtwheel.json_schema import describe_attributes
from pjrtwheel.record.entries import Entry, Record, format_entries
from pjrtwheel.record.origin import Origin
from pjrtwheel.record.proofs import Compilation, Level, Outcome, ProgramResult, Proof, PythonProof, TargetProof

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


def test_the_schemas_are_up_to_date(root: Path) -> None:
    """`./noxw update` writes what is in the repository."""
    for path, text in render_schemas().items():
        assert (root / path).read_text("utf-8") == text, f"{path} is out of date: ./noxw update"


@pytest.mark.parametrize("damage", ["", "proof", "filename", "size"])
def test_only_whole_entries_fit(root: Path, damage: str) -> None:
    """Every key that is written is required."""
    schema = json.loads((root / RELEASE_SCHEMA).read_text("utf-8"))
    document = json.loads(format_entries({"a.whl": ENTRY}))
    if damage:
        del document["wheels"][0][damage]
    assert jsonschema.Draft202012Validator(schema).is_valid(document) is (not damage)


def test_every_known_machine_fits(root: Path) -> None:
    """As its file is written, and as it is read."""
    schema = jsonschema.Draft202012Validator(json.loads((root / MACHINE_SCHEMA).read_text("utf-8")))
    rows = json.loads((root / "tests/data/machines/table.json").read_text("utf-8"))["rows"]
    assert len(rows) > 100
    for row in rows:
        assert schema.is_valid(row["machine"]), row["name"]
        assert schema.is_valid(to_json(from_json(row["machine"]))), row["name"]


@pytest.mark.parametrize(
    ("document", "fits"),
    [
        ({"nvidia": {"cuda": "13.0", "gpus": [{"compute_capability": "9.0"}]}}, True),
        ({"nvidia": None, "os": None, "new": 1}, True),
        ({"os": "linux", "nvidia": {"cuda": "13"}}, True),
        ({"os": "linux", "nvidia": {"cuda": "newest"}}, False),
        ({"os": "linux", "nvidia": {"gpus": [{"compute_capability": "90"}]}}, False),
        ({"os": "linux", "nvidia": {"libcuda": "fine"}}, False),
        ({"os": "linux", "amd": {"gpus": ["MI300X"]}}, False),
        ({"os": "linux", "intel": {"pci": "8086:0bd5"}}, False),
        ({"os": 1}, False),
    ],
)
def test_the_schema_of_a_machine_says_what_reading_it_would(
    root: Path, document: dict[str, object], *, fits: bool
) -> None:
    """Unknown keys and nulls are ignored; values of another form are not."""
    schema = jsonschema.Draft202012Validator(json.loads((root / MACHINE_SCHEMA).read_text("utf-8")))
    assert schema.is_valid(document) is fits
    with contextlib.nullcontext() if fits else pytest.raises(MachineError):
        from_json(document)


@pytest.mark.parametrize(
    "kind",
    [
        *(Record, Entry, Proof, PythonProof, ProgramResult, TargetProof, Compilation, Origin),
        *(Machine, Nvidia, NvidiaGpu, Amd, Intel, Devices),
    ],
)
def test_every_key_is_described(kind: type) -> None:
    """By the docstring of its dataclass, which the schema repeats."""
    assert list(describe_attributes(kind)) == [entry.name for entry in fields(kind)]
