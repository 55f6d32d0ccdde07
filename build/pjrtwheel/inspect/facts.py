# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What there is to know about a wheel."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from pjrtwheel.gpucode import GpuCode, merge_codes
from pjrtwheel.verify.finding import Finding

ENTRY_POINT = "GetPjrtApi"


@dataclass(frozen=True, slots=True)
class FileFacts:
    """One member: its length, and how much of the wheel it takes."""

    path: str
    size: int
    compressed: int


@dataclass(frozen=True, slots=True)
class LibraryFacts:
    """One shared object.

    Attributes:
        member: Its path in the wheel.
        machine: Such as `EM_X86_64`.
        soname: What it calls itself; may be empty.
        needed: Libraries it needs, in order.
        search_kind: `RPATH` or `RUNPATH`; empty when it has neither.
        search_paths: The elements of both.
        exports: Names of the symbols it defines for others, sorted.
        floors: Family of symbol versions → the highest it needs, such as `GLIBC` → `2.27`.
        executable_stack: Whether it asks for one.
        alignment: The smallest alignment of its loaded segments.
        unneeded: Names of the sections that no loader reads.
        unneeded_bytes: How much shorter the file would be without them.
        sections: Name and length of each section that takes room in the file, the largest first.
        gpu_code: The chips it holds code for; nothing when that could not be read.
        gpu_problem: Why it could not be read.
    """

    member: str
    machine: str
    soname: str
    needed: tuple[str, ...]
    search_kind: str
    search_paths: tuple[str, ...]
    exports: tuple[str, ...]
    floors: dict[str, str]
    executable_stack: bool
    alignment: int
    unneeded: tuple[str, ...]
    unneeded_bytes: int
    sections: tuple[tuple[str, int], ...]
    gpu_code: GpuCode | None = None
    gpu_problem: str = ""

    @property
    def is_plugin(self) -> bool:
        """Whether it implements the PJRT C API."""
        return ENTRY_POINT in self.exports


@dataclass(frozen=True, slots=True)
class PluginFacts:
    """What a PJRT plugin says about itself once it is opened.

    Attributes:
        refused: Why it could not be opened; empty when it was.
        pjrt_api: Version of its API, such as `0.115`.
        slots: How many functions it offers.
        extensions: Names of its extensions, in the order of the chain.
        attributes: What it publishes.
    """

    refused: str = ""
    pjrt_api: str = ""
    slots: int = 0
    extensions: tuple[str, ...] = ()
    attributes: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Inspection:
    """All about one wheel.

    Attributes:
        wheel: File name.
        size: Length of the file.
        sha256: Its digest.
        installed_size: What its members take on disk.
        name: Project name as METADATA spells it.
        version: Version.
        summary: One line about it.
        tags: Single tags of the file name, sorted.
        build: Build tag; may be empty.
        purelib: What WHEEL says; nothing when it says neither.
        requires_python: Which Pythons it is for.
        requires: The `Requires-Dist` lines.
        extras: The extras.
        entry_points: Group and name of each entry point, with its target.
        license: The licence expression, or else the deprecated field.
        license_files: Paths of the licence files in the wheel.
        sboms: Paths of bills of materials.
        lock: The release lock; nothing when there is none.
        files: Every member, the largest first.
        libraries: Every shared object.
        plugins: Path of a plugin library → what it said; empty when none was opened.
        findings: What is wrong with it.
    """

    wheel: str
    size: int
    sha256: str
    installed_size: int
    name: str
    version: str
    summary: str
    tags: tuple[str, ...]
    build: str
    purelib: bool | None
    requires_python: str
    requires: tuple[str, ...]
    extras: tuple[str, ...]
    entry_points: tuple[str, ...]
    license: str
    license_files: tuple[str, ...]
    sboms: tuple[str, ...]
    lock: dict[str, Any] | None
    files: tuple[FileFacts, ...]
    libraries: tuple[LibraryFacts, ...]
    plugins: dict[str, PluginFacts]
    findings: tuple[Finding, ...] = ()

    def floors(self) -> dict[str, str]:
        """Return the highest version of each family that any library needs."""
        floors: dict[str, str] = {}
        for library in self.libraries:
            for family, version in library.floors.items():
                floors[family] = max(floors.get(family, "0"), version, key=version_key)
        return dict(sorted(floors.items()))

    def gpu_code(self) -> GpuCode:
        """Return the chips that all libraries together hold code for."""
        return merge_codes(library.gpu_code for library in self.libraries if library.gpu_code is not None)

    def to_json(self) -> dict[str, Any]:
        """Return all facts as JSON values."""
        table = asdict(self)
        table["libraries"] = [
            {**asdict(library), "gpu_code": library.gpu_code.to_json() if library.gpu_code else None}
            for library in self.libraries
        ]
        return {**table, "floors": self.floors(), "gpu_code": self.gpu_code().to_json()}


def version_key(version: str) -> tuple[int, ...]:
    """Return a key that sorts versions of symbols by number.

    >>> max(["2.4", "2.27"], key=version_key)
    '2.27'
    """
    return tuple(int(part) for part in version.split("."))
