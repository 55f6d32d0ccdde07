# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read what a wheel, its libraries and, where they may be opened, its plugins say about themselves."""

from __future__ import annotations

import configparser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pjrtwheel.elf import ElfImage, plan_repair, read_image
from pjrtwheel.elf.strip import strip
from pjrtwheel.errors import ElfError
from pjrtwheel.gpucode import needed_tools, read_gpu_code
from pjrtwheel.inspect.model import Inspection, PluginDescription
from pjrtwheel.probe.process import Job, ask_plugin
from pjrtwheel.tables import TableError, read_json
from pjrtwheel.verify import documents
from pjrtwheel.verify.contents import WheelContents
from pjrtwheel.verify.library import Library, read_library

_TIME_LIMIT = 120.0

# Name of a vendor's program → where it is, or nothing.
FindTool = Callable[[str], Path | None]


def describe_wheel(
    contents: WheelContents, sha256: str, libraries: Sequence[Library], plugins: Mapping[str, PluginDescription]
) -> Inspection:
    """Put together what a wheel says about itself; only the findings are missing.

    Args:
        contents: The wheel, read.
        sha256: Its digest.
        libraries: Its libraries.
        plugins: Its plugins, as far as they were opened.
    """
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
    found = documents.find_lock(contents.texts)
    try:
        return read_json(dict[str, Any], found[1]) if found else None
    except TableError:
        return None


def inspect_library(path: Path, member: str, find_tool: FindTool) -> Library:
    """Read a shared object.

    Args:
        path: Where it was unpacked.
        member: Its path in the wheel.
        find_tool: Finds the programs that reading GPU code takes.

    Raises:
        ElfError: It is not an ELF file, or is damaged.
    """
    with path.open("rb") as file:
        image = read_image(file, member)  # first, as it refuses what would lead another reader astray
    unneeded, unneeded_bytes = _unneeded(image)
    library = replace(read_library(path, member), unneeded=unneeded, unneeded_bytes=unneeded_bytes)
    found = {name: find_tool(name) for name in needed_tools(image)}
    try:
        code = read_gpu_code(path, {name: tool for name, tool in found.items() if tool}, where="it")
    except ElfError as error:
        missing = "".join(f"; give it with --tool {name}=PATH" for name, tool in found.items() if not tool)
        return replace(library, gpu_problem=error.what + missing)
    return replace(library, gpu_code=code)


def _unneeded(image: ElfImage) -> tuple[tuple[str, ...], int]:
    """Return the sections that repair would drop, and the bytes that would save."""
    try:
        return strip(image).dropped, plan_repair(image).dropped_bytes
    except ElfError:
        return (), 0  # a search path that cannot be repaired in place; it is reported as a finding of its own


def open_plugin(library: Path) -> PluginDescription:
    """Return what a library says about itself.

    Args:
        library: The library; what it needs must be found by the dynamic loader.

    Raises:
        ProofError: pypjrt is not installed.
    """
    answer = ask_plugin(library, Job.DESCRIBE, time_limit=_TIME_LIMIT)
    refused = answer.get("refused") or answer.get("broke")
    if refused:
        return PluginDescription(refused=str(refused))
    return PluginDescription(
        pjrt_api=".".join(map(str, answer["api_version"])),
        slots=answer["slots"],
        extensions=tuple(entry["name"] or f"type {entry['type']}" for entry in answer["extensions"]),
        attributes=answer["attributes"],
    )
