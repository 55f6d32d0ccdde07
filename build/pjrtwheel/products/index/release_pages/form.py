# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the form of the install picker offers: systems, accelerators and installers.

`picker.toml` has the systems and the commands, and each backend its own accelerators.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from jaxlib_select.errors import SelectError
from jaxlib_select.machine.file import from_json
from pjrtwheel.backend import OWN_ROOT
from pjrtwheel.errors import UsageError
from pjrtwheel.tables import TableError, read_toml

Machine = Mapping[str, Any]
_FILENAME = "picker.toml"  # here, and in the directory of a backend


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
        name: What an address names it by, such as `t4` in `?gpu=t4`.
        label: What the picker offers, such as `NVIDIA T4 or RTX 20 series`.
        machine: Its part of a machine file, as `jaxlib-select detect --json` prints it; empty for the CPU. With an
            `arch`, it is offered on systems of that alone.
        question: What else decides, such as `NVIDIA driver`; empty if nothing does.
        choices: The answers, the usual one first.
        words: Other words for it in an address, such as `4090`.
        targets: The targets of its backend that are such devices, by which its proofs name them.
        note: What people with it should know of the plugin, as the start of a sentence.
        wsl: Whether Windows hands it to WSL2.
    """

    name: str
    label: str
    machine: Machine
    question: str = ""
    choices: tuple[Choice, ...] = (Choice("", {}),)
    words: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    note: str = ""
    wsl: bool = False


@dataclass(frozen=True, slots=True)
class Accelerators:
    """Which accelerators the install picker of an index offers for a backend.

    Attributes:
        accelerators: In the order of the list.
        order: Where they are in it: smaller numbers come first.
    """

    accelerators: tuple[Accelerator, ...]
    order: int = 100


@dataclass(frozen=True, slots=True)
class System:
    """A system.

    Attributes:
        name: What an address names it by.
        label: What the picker offers.
        platform: Of its wheels.
        shell: Whose commands it takes.
        machine: Its part of a machine file.
        instead: A system that may have more, on the same computer, or on that of some accelerators.
        note: What its users should know besides.
    """

    name: str
    label: str
    platform: str
    shell: str
    machine: Machine
    instead: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """What can be chosen: accelerators are the backends' own, and the rest is in `picker.toml`.

    Attributes:
        systems: The usual one first.
        shells: Shell → installer → its commands, which make an environment, install, and check.
        accelerators: In the order of the list.
    """

    systems: tuple[System, ...]
    shells: Mapping[str, Mapping[str, tuple[str, ...]]]
    accelerators: tuple[Accelerator, ...]


def read_form() -> Form:
    """Read `picker.toml`, and what the backends of this repository offer: those that its selector knows."""
    text = files(__package__).joinpath(_FILENAME).read_text("utf-8")
    return read_toml(Form, text, accelerators=load_accelerators(OWN_ROOT))


def load_accelerators(root: Path) -> tuple[Accelerator, ...]:
    """Return what the backends below `root` offer, each directory once, also one that several backends share.

    Raises:
        UsageError: A file is not TOML, or of another form, or a machine in it is none.
    """
    found = sorted(map(_read, sorted(root.glob(f"plugins/*/{_FILENAME}"))), key=lambda listed: listed.order)
    return tuple(accelerator for listed in found for accelerator in listed.accelerators)


def _read(path: Path) -> Accelerators:
    try:
        listed = read_toml(Accelerators, path.read_text("utf-8"))
        for accelerator in listed.accelerators:
            for choice in accelerator.choices:
                from_json(join_machines(accelerator.machine, choice.machine))
    except (TableError, SelectError) as error:
        raise UsageError(f"malformed list of accelerators: {path}", cause=str(error).partition("\n")[0]) from error
    return listed


def join_machines(*parts: Machine) -> dict[str, Any]:
    """Return a machine file of its parts; tables are joined."""
    joined: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            joined[key] = join_machines(joined.get(key, {}), value) if isinstance(value, dict) else value
    return joined
