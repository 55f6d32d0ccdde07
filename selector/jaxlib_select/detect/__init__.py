# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find out what a machine has: one module per vendor, each a function of the world it looks at."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from jaxlib_select.detect import amd, google, host, intel, nvidia
from jaxlib_select.detect.printable import printable
from jaxlib_select.detect.world import World, this_world
from jaxlib_select.machine import Amd, Intel, Machine, Nvidia, Tpu

T = TypeVar("T")


def detect(world: World | None = None) -> Machine:
    """Describe a machine; whatever goes wrong in one place becomes a note and hides nothing else.

    Args:
        world: Where to look; this machine if absent.

    Returns:
        The machine; what is odd about it raises nothing.

    Raises:
        UsageError: This machine is looked at, and a variable of this program is wrong.
    """
    around = this_world() if world is None else world
    notes: list[str] = []
    linux = around.system == "linux"
    return Machine(
        os=around.system,
        arch=_guard(lambda: (host.arch(around), []), "", notes),
        wsl=_guard(lambda: (host.is_wsl(around), []), default=False, notes=notes),
        tegra=_guard(lambda: (host.is_tegra(around), []), default=False, notes=notes),
        nvidia=_guard(lambda: nvidia.detect(around), Nvidia(), notes),
        amd=_guard(lambda: amd.detect(around), Amd(), notes) if linux else Amd(),
        intel=_guard(lambda: intel.detect(around), Intel(), notes) if linux else Intel(),
        tpu=_guard(lambda: google.detect(around), Tpu(), notes) if linux else Tpu(),
        container=_guard(lambda: (host.container(around), []), None, notes),
        libc=around.libc,
        visible=host.visible(around),
        notes=tuple(printable(note) for note in notes),
    )


def _guard(look: Callable[[], tuple[T, list[str]]], default: T, notes: list[str]) -> T:
    """Look at one thing; an error there is a note, not the end."""
    try:
        found, odd = look()
    except Exception as error:  # noqa: BLE001  # detection must not fail: it runs where things are broken
        notes.append(f"a part of the detection failed ({type(error).__name__}: {error})")
        return default
    notes.extend(odd)
    return found
