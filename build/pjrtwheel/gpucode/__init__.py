# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The chips a library holds code for: how they are named, and the document in a wheel that lists them.

`reader` finds them: what is read depends on what the file holds, never on what it is called.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Literal, Self

GPU_CODE_FILENAME = "gpu_code.json"
SCHEMA: Literal[1] = 1

_NVIDIA = re.compile(r"(sm|compute)_(\d+)(\d)([a-z]?)")


@dataclass(frozen=True, slots=True, order=True)
class NvidiaTarget:
    """What NVIDIA's compilers make code for.

    Attributes:
        kind: `sm` for machine code (SASS), `compute` for portable assembly (PTX).
        major: Of the compute capability; machine code runs on that major version only.
        minor: Of the compute capability.
        suffix: `a` for features of one chip, `f` for those of a family; such code runs nowhere else.
    """

    kind: str
    major: int
    minor: int
    suffix: str = ""

    def __str__(self) -> str:
        """Return the name, such as `sm_90a`."""
        return f"{self.kind}_{self.major}{self.minor}{self.suffix}"

    @classmethod
    def parse(cls, name: str) -> Self | None:
        """Read a name; nothing where it is none of NVIDIA's.

        >>> NvidiaTarget.parse("sm_120a"), NvidiaTarget.parse("gfx942")
        (NvidiaTarget(kind='sm', major=12, minor=0, suffix='a'), None)
        """
        match = _NVIDIA.fullmatch(name)
        return cls(match[1], int(match[2]), int(match[3]), match[4]) if match else None


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
        return order_names((*self.sass, *self.ptx, *self.gfx, *self.spirv))


@dataclass(frozen=True, slots=True)
class GpuCodeList:
    """The document `gpu_code.json`, from which loader and users learn what a wheel's libraries hold.

    Attributes:
        code: Names of the chips that any of them holds code for.
        files: The same by member; members without such code are left out.
        schema: Version of the document.
    """

    code: tuple[str, ...]
    files: Mapping[str, GpuCode]
    schema: Literal[1]


def list_codes(codes: Mapping[str, GpuCode]) -> GpuCodeList:
    """Sum up what the libraries of a wheel hold."""
    return GpuCodeList(merge_codes(codes.values()).names(), codes, SCHEMA)


def merge_codes(codes: Iterable[GpuCode]) -> GpuCode:
    """Return what several libraries hold together."""
    found = tuple(codes)
    kinds = [entry.name for entry in fields(GpuCode)]
    return GpuCode(*(order_names(name for code in found for name in getattr(code, kind)) for kind in kinds))


def order_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return each name once, versions in the order of their numbers.

    >>> order_names(["sm_100", "sm_90", "compute_120", "gfx1100", "gfx90a", "sm_90a", "gfx908", "sm_90"])
    ('compute_120', 'gfx908', 'gfx90a', 'gfx1100', 'sm_90', 'sm_90a', 'sm_100')
    """
    return tuple(sorted(set(names), key=_order))


def _order(name: str) -> tuple[str, int, str]:
    target = NvidiaTarget.parse(name)
    if target:
        return target.kind, 10 * target.major + target.minor, target.suffix
    return name[:3], len(name), name
