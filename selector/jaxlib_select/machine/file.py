# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The machine file: JSON in which unknown keys are ignored, and missing keys and nulls mean "not found"."""

from __future__ import annotations

import json
from dataclasses import fields

from jaxlib_select import tables
from jaxlib_select.errors import MachineError
from jaxlib_select.machine.model import Machine

_REMEDY = "'jaxlib-select detect --json' writes the expected form"


def to_json(machine: Machine) -> dict[str, object]:
    """Return the documented JSON form; `from_json` is its inverse."""
    found: dict[str, object] = tables.write(machine)
    return found


def parse_machine(text: str | bytes) -> Machine:
    """Read a machine description; a `MachineError` if it is no JSON, or not of the documented form."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MachineError("machine description is not JSON", cause=str(error)) from error
    return from_json(document)


def from_json(document: object) -> Machine:
    """Turn a decoded JSON document into a machine; a `MachineError` names the key whose value is wrong."""
    entries = document if isinstance(document, dict) else {}
    if entries and not entries.keys() & {attribute.name for attribute in fields(Machine)}:
        shown = tables.show(", ".join(map(str, entries)))
        raise MachineError(f"not a machine description: it has only unknown keys ({shown})", remedy=_REMEDY)
    try:
        return tables.read(Machine, document)
    except tables.TableError as error:
        raise MachineError(f"machine description: {error}", remedy=_REMEDY) from error
