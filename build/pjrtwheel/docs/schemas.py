# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The JSON Schemas in `docs/`, from dataclasses."""

from __future__ import annotations

import json

from jaxlib_select.machine.model import Machine
from pjrtwheel.json_schema import schema_of
from pjrtwheel.prove.proof_file import ProofFile
from pjrtwheel.record.entries import Record

RELEASE_SCHEMA = "docs/release.schema.json"
MACHINE_SCHEMA = "docs/machine.schema.json"
PROOFS_SCHEMA = "docs/proofs.schema.json"


def render_schemas() -> dict[str, str]:
    """Return the text of each schema, by its path in the repository."""
    wheels = "dist/release.json: the finished wheels of a folder, and what was proven of them"
    machine = "The machine file of jaxlib-select: what `detect --json` prints and `--machine FILE` reads"
    proofs = "Proofs that were made on another machine: `smoke_BACKEND -- --proofs` writes, `merge --proofs` reads them"
    schemas = {
        RELEASE_SCHEMA: schema_of(Record, wheels, written=True),
        MACHINE_SCHEMA: schema_of(Machine, machine, lenient=True),
        PROOFS_SCHEMA: schema_of(ProofFile, proofs),
    }
    return {path: json.dumps(schema, indent=2, ensure_ascii=False) + "\n" for path, schema in schemas.items()}
