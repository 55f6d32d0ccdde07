# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which level of proof a machine can show of a plugin."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pjrtwheel.prove.devices import Devices
from pjrtwheel.prove.library import Opened
from pjrtwheel.record.proofs import Level

# The dynamic linker's words for a library that another one needs; of the plugin itself it would give the path.
_MISSING = re.compile(r"OSError: lib[^/\s]+: cannot open shared object file")


@dataclass(frozen=True, slots=True)
class ProofPlan:
    """How far the evidence can go here.

    Attributes:
        level: The highest level that can be shown.
        missed: Why each higher one cannot.
        failure: What is wrong, where the machine does not excuse it; empty otherwise.
    """

    level: Level
    missed: tuple[str, ...] = ()
    failure: str = ""


def choose_level(name: str, devices: Devices, opened: Opened, *, targets: bool) -> ProofPlan:
    """Return how a plugin is to be proven: on a device, else ahead of time, else by opening the library.

    Only hardware or a driver that is not here, or cannot run it, excuses that there is no device, and only a library of
    the vendor's that is not here that the plugin does not open.
    """
    if devices.count:
        return ProofPlan(Level.DEVICE)
    missed: tuple[str, ...] = (f"{Level.DEVICE}: {devices.reason}",)
    if not devices.excused:
        return ProofPlan(Level.STATIC, missed, failure=devices.reason)
    if targets:
        return ProofPlan(Level.AOT, missed)
    missed += (f"{Level.AOT}: {name} has no targets that could be compiled for without the accelerator",)
    if opened.api is not None:
        return ProofPlan(Level.LOAD, missed)
    missed += (f"{Level.LOAD}: {opened.reason}",)
    return ProofPlan(Level.STATIC, missed, failure="" if _MISSING.match(opened.reason) else opened.reason)
