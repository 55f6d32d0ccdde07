# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Keep the JSON Schemas in `docs/` true: `python -m pjrtwheel.docs.schemas [--root DIR]`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from jaxlib_select.machine.model import Machine
from pjrtwheel.files import write_atomically
from pjrtwheel.json_schema import schema_of
from pjrtwheel.program import CommandParser, program
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


def make_parser() -> CommandParser:
    """Return the parser of this program's arguments."""
    parser = CommandParser(prog="python -m pjrtwheel.docs.schemas", description=__doc__)
    parser.add_argument("--root", type=Path, default=Path(), help="the repository (default: here)")
    return parser


@program
def main(argv: Sequence[str] | None = None) -> int:
    """Write the schemas and return the exit status."""
    root = make_parser().parse_all(argv).root
    for path, text in render_schemas().items():
        write_atomically(root / path, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
