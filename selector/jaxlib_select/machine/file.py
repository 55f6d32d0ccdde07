# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The machine file: JSON of which unknown keys are ignored, and missing keys and nulls mean "not found".

A key that is nearly one of ours gets a note, because it is hardly meant to be ignored.
"""

from __future__ import annotations

import json
from dataclasses import fields, replace

from jaxlib_select import tables
from jaxlib_select.errors import MachineError
from jaxlib_select.machine.model import Machine

LARGEST = 16 * 1024 * 1024  # bytes of a machine file; ten thousand GPUs take one
_NEAR = 0.7  # of 1: how much of a key must be as in a known one to be taken for a slip
_REMEDY = "'jaxlib-select detect --json' writes the expected form"


def to_json(machine: Machine) -> dict[str, object]:
    """Return the documented JSON form; `from_json` is its inverse."""
    found: dict[str, object] = tables.write(machine)
    return found


def parse_machine(text: str) -> Machine:
    """Read a machine description; a `MachineError` if it is no JSON, too large, or not of the documented form."""
    if len(text) > LARGEST:
        raise MachineError(f"machine description too large: {len(text)} characters (at most {LARGEST})")
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
        raise MachineError(f"no machine description: none of its keys ({shown}) is known", remedy=_REMEDY)
    try:
        machine = tables.read(Machine, document)
    except tables.TableError as error:
        raise MachineError(f"machine description: {error}", remedy=_REMEDY) from error
    return replace(machine, notes=(*machine.notes, *_slips(entries)))


def _slips(document: dict[str, object]) -> list[str]:
    """Return a note for each unknown key that is nearly a known one."""
    unknown = dict.fromkeys(tables.unknown_keys(Machine, document))  # the same key of ten thousand GPUs once
    if not unknown:
        return []
    from difflib import get_close_matches  # seldom needed

    near = {where + key: (where, get_close_matches(key, known, 1, _NEAR)) for where, key, known in unknown}
    slips = [(key, where + found[0]) for key, (where, found) in near.items() if found]
    return [f"the key {tables.show(key)} was ignored; known is {known}" for key, known in slips]
