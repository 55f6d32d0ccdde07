# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which NVIDIA GPU runs which code (CUDA C++ Programming Guide, "Application Compatibility")."""

from __future__ import annotations

import re
from collections.abc import Iterable

from jaxlib_select.machine.model import Version
from jaxlib_select.versions import at_least

Capability = tuple[int, int]

# Compute capabilities that exist in Tegra chips only: Erista, Parker, Xavier, Orin, and Thor under CUDA 12 and 13.
TEGRA = frozenset({(5, 3), (6, 2), (7, 2), (8, 7), (10, 1), (11, 0)})

_CODE = re.compile(r"(sm|compute)_(\d{1,2})(\d)([af]?)")


def is_tegra(capability: Capability | None, *, tegra: bool) -> bool:
    """Return whether a GPU is part of a Tegra chip, as far as the system or its compute capability says."""
    return tegra or capability in TEGRA


def runs(
    capability: Capability,
    code: Iterable[str],
    *,
    tegra: bool,
    cuda: Version | None,
    driver: Version | None,
    toolkit: Version | None,
    oldest: Version | None = None,
) -> bool:
    """Return whether a GPU runs any of the code in a wheel.

    Args:
        capability: Compute capability of the GPU.
        code: Such as `sm_90`, `sm_90a`, `compute_120`.
        tegra: Whether the machine is a Tegra.
        cuda: CUDA version of its driver.
        driver: Oldest driver that the wheel works with. An older one is a problem of its own.
        toolkit: CUDA version that made the PTX; unknown means that no driver is sure to compile it.
        oldest: Oldest compute capability that whoever made the wheel lets it run on.
    """
    if oldest and not at_least(capability, oldest):
        return False
    if is_tegra(capability, tegra=tegra):
        return any(found == ("sm", capability, "") for found in map(_parse, code))
    # What a driver update would bring must not be called missing code.
    reached = max(cuda or (0,), driver or (0,))
    compiles = toolkit is not None and at_least(reached, toolkit)
    return any(_fits(capability, name, compiles=compiles) for name in code)


def _parse(name: str) -> tuple[str, Capability, str] | None:
    """Split the name of a target; nothing for another vendor's."""
    found = _CODE.fullmatch(name)
    if found is None:
        return None
    return found.group(1), (int(found.group(2)), int(found.group(3))), found.group(4)


def _fits(capability: Capability, name: str, *, compiles: bool) -> bool:
    """Return whether a GPU that is no Tegra runs code of one target."""
    parsed = _parse(name)
    if parsed is None:
        return False
    kind, target, suffix = parsed
    if kind == "sm" and target in TEGRA:
        return False  # no binary compatibility between Tegra and the others, in neither direction
    if kind == "compute" and not compiles:
        return False
    if suffix == "a":
        return capability == target  # architecture-specific: that one only
    if kind == "sm" or suffix == "f":
        return capability[0] == target[0] and capability[1] >= target[1]
    return capability >= target
