# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What inspection knows about a wheel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pjrtwheel.gpucode import GpuCode, merge_codes
from pjrtwheel.tables import write
from pjrtwheel.verify.findings import Finding
from pjrtwheel.verify.library import Library, version_key
from pjrtwheel.wheel.record import Member


@dataclass(frozen=True, slots=True)
class PluginDescription:
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
    attributes: Mapping[str, Any] | None = None


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
        files: Every member by path, the largest first.
        compressed: Path → how much of the wheel it takes.
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
    files: Mapping[str, Member]
    compressed: Mapping[str, int]
    libraries: tuple[Library, ...]
    plugins: dict[str, PluginDescription]
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
        """Return all of it as JSON values."""
        table: dict[str, Any] = write(self)
        sizes = [
            {"path": path, "size": member.size, "compressed": table["compressed"][path]}
            for path, member in self.files.items()
        ]
        del table["compressed"]
        return {**table, "files": sizes, "floors": self.floors(), "gpu_code": write(self.gpu_code())}
