# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The chips a library holds code for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import astuple, dataclass

_NVIDIA = re.compile(r"(sm|compute)_(\d+)([a-z]?)")


@dataclass(frozen=True, slots=True)
class GpuCode:
    """Names of architectures, each tuple without repetition and in natural order.

    Attributes:
        sass: Machine code for NVIDIA's chips, such as `sm_90`; it runs on that major version only.
        ptx: NVIDIA's portable assembly, such as `compute_120`; a driver compiles it for that version and later ones.
        gfx: Machine code for AMD's chips, such as `gfx942`.
        spirv: Portable code that a SYCL runtime compiles, such as `spir64`.
    """

    sass: tuple[str, ...] = ()
    ptx: tuple[str, ...] = ()
    gfx: tuple[str, ...] = ()
    spirv: tuple[str, ...] = ()

    def names(self) -> tuple[str, ...]:
        """Return all names in one tuple, by kind and number."""
        return order_names(name for names in astuple(self) for name in names)

    def to_json(self) -> dict[str, list[str]]:
        """Return the lists by kind, for a JSON document."""
        return {"sass": list(self.sass), "ptx": list(self.ptx), "gfx": list(self.gfx), "spirv": list(self.spirv)}


def merge_codes(codes: Iterable[GpuCode]) -> GpuCode:
    """Return what several libraries hold together."""
    found = tuple(codes)
    return GpuCode(
        sass=order_names(name for code in found for name in code.sass),
        ptx=order_names(name for code in found for name in code.ptx),
        gfx=order_names(name for code in found for name in code.gfx),
        spirv=order_names(name for code in found for name in code.spirv),
    )


def order_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return each name once, versions in the order of their numbers.

    >>> order_names(["sm_100", "sm_90", "compute_120", "sm_90a", "sm_90"])
    ('compute_120', 'sm_90', 'sm_90a', 'sm_100')
    >>> order_names(["gfx1100", "gfx90a", "gfx908"])
    ('gfx908', 'gfx90a', 'gfx1100')
    """
    return tuple(sorted(set(names), key=_order))


def _order(name: str) -> tuple[str, int, str]:
    """Return a sorting key: kind, then number, then the rest."""
    match = _NVIDIA.fullmatch(name)
    if match:
        return match[1], int(match[2]), match[3]
    return name[:3], len(name), name
