# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the loader of an operating system will see of a shared library, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass, field

from pjrtwheel.gpucode import GpuCode
from pjrtwheel.platforms import BinaryFormat

ENTRY_POINT = "GetPjrtApi"


@dataclass(frozen=True, slots=True)
class Library:
    """One shared library of a wheel.

    Attributes:
        member: Its path in the wheel.
        machine: As in `Platform.machine`; those of a fat Mach-O file are joined by `+`.
        binary_format: The format of the file.
        soname: The name under which others are linked to it (in a Mach-O file the install name).
        needed: Libraries that the loader must find for it, in order.
        search_kind: `RPATH` or `RUNPATH`; empty when it has neither.
        search_paths: The elements of both.
        exports: Symbols it defines for others, without their version, sorted.
        floors: What it needs at least: the highest version of each family of symbols, such as `GLIBC` → `2.27`, or of
            the operating system, such as `macOS` → `11.0`.
        executable_stack: Whether an ELF file's PT_GNU_STACK is missing or asks for an executable stack.
        alignment: The smallest alignment of an ELF file's loaded segments.
        sections: Name and length of each section that takes room in the file, the largest first.
        signature: The kind of its code signature, such as `ad hoc`; empty when it has none.
        unneeded: Names of the sections that no loader reads; `inspect` asks for it, as for all that follows.
        unneeded_bytes: How much shorter the file would be without them.
        gpu_code: The chips it holds code for; nothing when that was not read, for the reason in `gpu_problem`.
    """

    member: str
    machine: str
    binary_format: BinaryFormat = BinaryFormat.ELF
    soname: str = ""
    needed: tuple[str, ...] = ()
    search_kind: str = ""
    search_paths: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()
    floors: dict[str, str] = field(default_factory=dict)
    executable_stack: bool = False
    alignment: int = 0
    sections: tuple[tuple[str, int], ...] = ()
    signature: str = ""
    unneeded: tuple[str, ...] = ()
    unneeded_bytes: int = 0
    gpu_code: GpuCode | None = None
    gpu_problem: str = ""

    @property
    def is_plugin(self) -> bool:
        """Whether it implements the PJRT C API."""
        return ENTRY_POINT in self.exports


def version_key(version: str) -> tuple[int, ...]:
    """Return a key that sorts versions by number.

    >>> max(["2.4", "2.27"], key=version_key)
    '2.27'
    """
    return tuple(int(part) for part in version.split("."))


def largest_first(sizes: dict[str, int]) -> tuple[tuple[str, int], ...]:
    """Return the sections that take room, in the order of `Library.sections`.

    >>> largest_first({"b": 1, "a": 1, "c": 2, "d": 0})
    (('c', 2), ('a', 1), ('b', 1))
    """
    return tuple(sorted(((name, size) for name, size in sizes.items() if size), key=lambda item: (-item[1], item[0])))
