# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What inspection knows about a wheel, and how it is put together from what was read."""

from __future__ import annotations

import configparser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pjrtwheel.gpucode import GpuCode, merge_codes
from pjrtwheel.release.lock import LOCK_FILENAME
from pjrtwheel.tables import TableError, read_json, write
from pjrtwheel.verify.contents import WheelContents
from pjrtwheel.verify.documents import find_document
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
        installed_size: What its members take on disk.
        name: Project name as METADATA spells it.
        tags: Single tags of the file name, sorted.
        build: Build tag; may be empty.
        purelib: What WHEEL says; nothing when it says neither.
        entry_points: Group and name of each entry point, with its target.
        license: The licence expression, or else the deprecated field.
        sboms: Paths of bills of materials.
        lock: The release lock; nothing when there is none.
        files: Every member by path, the largest first.
        compressed: Path → how much of the wheel it takes.
        plugins: Path of a plugin library → what it said; empty when none was opened.
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


def describe_wheel(
    contents: WheelContents, sha256: str, libraries: Sequence[Library], plugins: Mapping[str, PluginDescription]
) -> Inspection:
    """Put together what a wheel says about itself; only the findings are missing."""
    headers, wheel = contents.headers("METADATA"), contents.headers("WHEEL")
    return Inspection(
        wheel=contents.path.name,
        size=contents.path.stat().st_size,
        sha256=sha256,
        installed_size=sum(member.size for member in contents.members.values()),
        name=headers.get("Name", ""),
        version=headers.get("Version", ""),
        summary=headers.get("Summary", ""),
        tags=tuple(sorted(map(str, contents.name.tags))),
        build=contents.name.build,
        purelib={"true": True, "false": False}.get(wheel.get("Root-Is-Purelib", "").strip().lower()),
        requires_python=headers.get("Requires-Python", ""),
        requires=tuple(headers.get_all("Requires-Dist", [])),
        extras=tuple(headers.get_all("Provides-Extra", [])),
        entry_points=_entry_points(contents),
        license=headers.get("License-Expression", headers.get("License", "")),
        license_files=_license_files(contents),
        sboms=tuple(name for name in contents.members if name.startswith(f"{contents.dist_info}/sboms/")),
        lock=_lock(contents),
        files=dict(sorted(contents.members.items(), key=lambda entry: (-entry[1].size, entry[0]))),
        compressed=contents.compressed,
        libraries=tuple(libraries),
        plugins=dict(plugins),
    )


def _license_files(contents: WheelContents) -> tuple[str, ...]:
    """Return the licence files, in the place of PEP 639 or directly in the metadata as before it."""
    named = contents.headers("METADATA").get_all("License-File", [])
    places = [f"{contents.dist_info}/{folder}{name}" for name in named for folder in ("licenses/", "")]
    return tuple(dict.fromkeys(place for place in places if place in contents.members))


def _entry_points(contents: WheelContents) -> tuple[str, ...]:
    """Return each entry point as `group: name = target`; none when the file cannot be read."""
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    try:
        parser.read_string(contents.texts.get(f"{contents.dist_info}/entry_points.txt", ""))
    except configparser.Error:
        return ()
    return tuple(f"{group}: {name} = {target}" for group in parser.sections() for name, target in parser[group].items())


def _lock(contents: WheelContents) -> dict[str, Any] | None:
    """Return the release lock; nothing when there is none, or when it is no JSON object."""
    found = find_document(contents.texts, LOCK_FILENAME)
    try:
        return read_json(dict[str, Any], found[1]) if found else None
    except TableError:
        return None
