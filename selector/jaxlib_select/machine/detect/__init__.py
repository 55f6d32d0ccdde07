# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find out what a machine has: one module per vendor, each with a `DETECTOR` that looks at a host.

A module that is added to this folder is found by that. What it finds is the attribute of `Machine` that its key names,
or, as `Devices`, an entry of `Machine.others`.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass, fields

from jaxlib_select.machine.host import Host, arch, container, is_tegra, is_wsl, this_host
from jaxlib_select.machine.model import Machine
from jaxlib_select.sentences import printable

TYPE_CHECKING = False  # typing takes longer to import than this package
if TYPE_CHECKING:
    from typing import Any

# What was found, and what was odd about it.
Look = Callable[[Host], tuple["Any", list[str]]]


@dataclass(frozen=True, slots=True)
class Detector:
    """How the accelerators of one vendor are found.

    Attributes:
        key: Key of what is found in the machine file.
        systems: Operating systems on which there may be something to find.
        variables: Those that hide devices of this vendor from programs.
    """

    key: str
    look: Look
    systems: tuple[str, ...] = ("linux",)
    variables: tuple[str, ...] = ()


def detect(host: Host | None = None) -> Machine:
    """Describe a machine; whatever goes wrong in one place becomes a note and hides nothing else.

    Raises:
        UsageError: This machine is looked at, and a variable of this program is wrong.
    """
    host = this_host() if host is None else host
    notes: list[str] = []
    detectors = _find_detectors(notes)
    everything = [*map(_plainly, ("wsl", "tegra"), (is_wsl, is_tegra)), *detectors, _plainly("container", container)]
    found = {entry.key: _guard(entry.look, host, notes) for entry in everything if host.system in entry.systems}
    found["arch"] = _guard(lambda host: (arch(host), []), host, notes)
    known = {key: value for key, value in found.items() if value is not None and key in _attributes()}
    others = {key: value for key, value in found.items() if value is not None and key not in _attributes()}
    visible = [name for entry in detectors for name in entry.variables if name in host.environ]
    return Machine(
        os=host.system,
        libc=host.libc,
        visible={name: printable(host.environ[name]) for name in visible},
        others=others,
        notes=tuple(printable(note) for note in notes),
        **known,
    )


def _find_detectors(notes: list[str]) -> list[Detector]:
    """Return the detector of each module here: those of attributes of `Machine` in their order, then others."""
    found: list[Detector] = []
    for name, suffix in map(os.path.splitext, sorted(os.listdir(os.path.dirname(__file__)))):
        if suffix == ".py" and name.isidentifier() and not name.startswith("_"):
            try:
                found.append(importlib.import_module(f"{__name__}.{name}").DETECTOR)
            except Exception as error:  # noqa: BLE001  # one broken module must not end the detection
                notes.append(_describe(error))
    order = _attributes()
    return sorted(found, key=lambda entry: (order.index(entry.key) if entry.key in order else len(order), entry.key))


def _attributes() -> list[str]:
    return [attribute.name for attribute in fields(Machine)]


def _plainly(key: str, look: Callable[[Host], object]) -> Detector:
    """Return what looks at Linux, and finds nothing odd."""
    return Detector(key, lambda host: (look(host), []))


def _guard(look: Look, host: Host, notes: list[str]) -> Any:
    """Look at one thing; an error there is a note, not the end."""
    try:
        found, odd = look(host)
    except Exception as error:  # noqa: BLE001  # detection must not fail: it runs where things are broken
        notes.append(_describe(error))
        return None
    notes.extend(odd)
    return found


def _describe(error: Exception) -> str:
    return f"a part of the detection failed ({type(error).__name__}: {error})"
