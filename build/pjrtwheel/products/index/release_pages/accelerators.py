# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read `plugins/<name>/picker.toml`: which accelerators the install picker offers, as parts of a machine file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxlib_select.errors import SelectError
from jaxlib_select.machine.file import from_json
from jaxlib_select.machine.model import Machine as MachineFile
from jaxlib_select.tables import unknown_keys
from pjrtwheel import tables
from pjrtwheel.backend import load_backends
from pjrtwheel.errors import UsageError

Machine = Mapping[str, Any]

_FILENAME = "picker.toml"


@dataclass(frozen=True, slots=True)
class Choice:
    """What else decides about an accelerator, such as the driver's version.

    Attributes:
        label: What the picker offers, such as `580 or newer`.
        machine: Its part of a machine file.
    """

    label: str
    machine: Machine


@dataclass(frozen=True, slots=True)
class Accelerator:
    """An accelerator that people have.

    Attributes:
        label: What the picker offers, such as `NVIDIA T4 or RTX 20 series`.
        machine: Its part of a machine file, as `jaxlib-select detect --json` prints it.
        question: What else decides, such as `NVIDIA driver`; empty if nothing does.
        choices: The answers, the usual one first.
    """

    label: str
    machine: Machine
    question: str = ""
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True)
class Accelerators:
    """Which accelerators the install picker of an index offers for a backend.

    Attributes:
        accelerators: In the order of the list.
        order: Where they are in it: smaller numbers come first.
    """

    accelerators: tuple[Accelerator, ...]
    order: int = 100


def load_accelerators(root: Path) -> tuple[Accelerator, ...]:
    """Return what the backends below `root` offer, each directory once, also one that several backends share.

    Raises:
        UsageError: A file is not TOML, or of another form, or a machine in it has what the selector does not know.
    """
    backends = load_backends(root).values()
    paths = {root / "plugins" / name / _FILENAME for entry in backends for name in (entry.name, *entry.shared)}
    found = sorted((_read(path) for path in sorted(paths) if path.is_file()), key=lambda entry: entry.order)
    return tuple(accelerator for listed in found for accelerator in listed.accelerators)


def _read(path: Path) -> Accelerators:
    try:
        listed = tables.read_toml(Accelerators, path.read_text("utf-8"))
        for accelerator in listed.accelerators:
            _check_machine(accelerator.label, accelerator.machine)
            for choice in accelerator.choices:
                _check_machine(choice.label, choice.machine)
    except (tables.TableError, SelectError) as error:
        raise UsageError(f"malformed list of accelerators: {path}", cause=str(error).partition("\n")[0]) from error
    return listed


def _check_machine(label: str, machine: Machine) -> None:
    """Refuse a key that the selector would pass over: the picker would take the accelerator for none."""
    from_json(machine)
    unknown = [where + key for where, key, _ in unknown_keys(MachineFile, machine)]
    if unknown:
        raise tables.TableError(f"the machine of {label!r} has unknown keys: {', '.join(unknown)}")
