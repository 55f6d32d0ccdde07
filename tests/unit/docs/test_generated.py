# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is generated below `docs/`: the table of releases and the picture of the README; and the JSON Schemas there."""

import contextlib
import json
import typing
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema  # type: ignore[import-untyped]
import pytest

from jaxlib_select.errors import MachineError
from jaxlib_select.machine.file import from_json, to_json
from jaxlib_select.machine.model import Machine
from pjrtwheel.backend import find_backend, load_backends
from pjrtwheel.docs.generated import render_generated, render_picture, render_releases
from pjrtwheel.prove.proof_file import KNOWN_PROOFS, ProofFile, read_proof_file
from pjrtwheel.record.entries import Record
from pjrtwheel.record.proofs import Level
from pjrtwheel.release.model import Override, Pin, Release
from pjrtwheel.tables import hints_of, key_of
from release_under_test import release_under_test

RELEASE_SCHEMA, MACHINE_SCHEMA, PROOFS_SCHEMA = (
    f"docs/{name}.schema.json" for name in ("release", "machine", "proofs")
)
SVG = "{http://www.w3.org/2000/svg}"


def validator(root: Path, path: str) -> Any:
    """Return what holds documents to a schema of the repository."""
    return jsonschema.Draft202012Validator(json.loads((root / path).read_text("utf-8")))


def test_generated_files_are_up_to_date(root: Path) -> None:
    """After a change in releases or backends."""
    for path, text in render_generated(root).items():
        assert (root / path).read_text("utf-8") == text, f"{path} is out of date: ./noxw update"


def test_every_known_machine_fits(root: Path) -> None:
    """As its file is written, and as it is read."""
    schema = validator(root, MACHINE_SCHEMA)
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
        ({"os": "linux", "nvidia": {"cuda": "newest"}}, False),
        ({"os": "linux", "nvidia": {"gpus": [{"compute_capability": "90"}]}}, False),
        ({"os": "linux", "nvidia": {"libcuda": "fine"}}, False),
        ({"os": "linux", "amd": {"gpus": ["MI300X"]}}, False),
        ({"os": "linux", "intel": {"pci": "8086:0bd5"}}, False),
    ],
)
def test_the_schema_of_a_machine_says_what_reading_it_would(
    root: Path, document: dict[str, object], *, fits: bool
) -> None:
    """Unknown keys and nulls are ignored; values of another form are not."""
    assert validator(root, MACHINE_SCHEMA).is_valid(document) is fits
    with contextlib.nullcontext() if fits else pytest.raises(MachineError):
        from_json(document)


def test_a_record_has_every_key(root: Path) -> None:
    """Even those of which the dataclass has a default."""
    entry = json.loads((root / RELEASE_SCHEMA).read_text("utf-8"))["$defs"]["Entry"]
    assert sorted(entry["required"]) == sorted(entry["properties"])


def test_proofs_of_the_repository_fit_and_count(root: Path) -> None:
    """They are of a device, or of an emulated machine, which compiles for some."""
    for path in (root / KNOWN_PROOFS).iterdir():
        validator(root, PROOFS_SCHEMA).validate(json.loads(path.read_text("utf-8")))
        for proof in (proven.proof for proven in read_proof_file(path).wheels):
            assert proof.level is (Level.AOT if proof.emulated else Level.DEVICE)


@pytest.mark.parametrize(
    ("path", "root_kind"), [(RELEASE_SCHEMA, Record), (MACHINE_SCHEMA, Machine), (PROOFS_SCHEMA, ProofFile)]
)
def test_a_schema_has_the_keys_of_its_dataclasses(root: Path, path: str, root_kind: type) -> None:
    """Of each with its keys, and of no others; they are kept by hand."""
    schema = json.loads((root / path).read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    known = {kind.__name__: sorted(map(key_of, fields(kind))) for kind in reachable(root_kind)}
    assert {name: sorted(found["properties"]) for name, found in schema["$defs"].items()} == known


def reachable(kind: Any) -> set[Any]:
    """Return the dataclasses that an annotation is of, at any depth."""
    if not is_dataclass(kind):
        return set().union(*map(reachable, typing.get_args(kind)))
    return {kind}.union(*map(reachable, hints_of(typing.cast("type", kind)).values()))


def make_release(version: str, *keys: str, override: str = "") -> Release:
    """Return a release with these pins."""
    pins = {key: Pin(key, "p", version, f"{key}.whl", "00", 1) for key in keys}
    overrides = (Override("cuda12", override, "why"),) if override else ()
    return replace(release_under_test(), version=version, pins=pins, overrides=overrides, absent=())


def test_releases_with_the_same_wheel_share_a_row(root: Path) -> None:
    """With what one platform or one backend lacks of what the others have."""
    full = make_release(
        "2.0",
        *(f"bindings.{python}.linux_x86_64" for python in ("cp312", "cp310", "cp312t")),
        *(f"bindings.{python}.linux_aarch64" for python in ("cp310", "cp312", "cp312t")),
        "bindings.cp312.windows_x86_64",
        *(f"plugin.cuda12.linux_{architecture}" for architecture in ("x86_64", "aarch64")),
        *(f"kernels.cuda12.{python}.linux_x86_64" for python in ("cp310", "cp312", "cp312t")),
        "kernels.cuda12.cp312.linux_aarch64",
        override="1.0",
    )
    bare = make_release("1.0", "bindings.cp312.linux_x86_64")
    both = "linux_aarch64, linux_x86_64"
    assert render_releases([full, bare], [find_backend(root, "cuda12")]).splitlines() == [
        "| wheel | releases | for |",
        "| --- | --- | --- |",
        f"| `jaxlib` | 2.0 | {both}: 3.10, 3.12, 3.12t; windows_x86_64: 3.12 |",
        "| `jaxlib` | 1.0 | linux_x86_64: 3.12 |",
        f"| `jaxlib-cuda-12` | 2.0 | {both}; uses the XLA of 1.0; not for 3.10, 3.12t, which lack kernels |",
    ]


def test_the_picture_has_what_the_release_has(root: Path) -> None:
    """A plugin that holds its library, and each Python; GitHub shows it as an image, which may load nothing."""
    pins = ("plugin.cuda12.linux_x86_64", "plugin.tpu.linux_x86_64", "bindings.cp399.linux_x86_64")
    text = render_picture(make_release("2.0", *pins), load_backends(root).values())
    found = " ".join(part.text or "" for part in ET.fromstring(text).iter(f"{SVG}text"))  # noqa: S314 - our own
    assert [name for name in ("jaxlib-cuda-12", "cuda-13", "tpu", "3.99") if name not in found] == ["cuda-13", "tpu"]
    assert "href" not in text
