# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Say what a wheel is, and what is wrong with it. Nothing of the wheel runs, unless its plugins are to be opened."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from pjrtwheel.elf import ElfImage, plan_repair, read_image
from pjrtwheel.elf.strip import strip
from pjrtwheel.errors import ElfError
from pjrtwheel.files import hash_file
from pjrtwheel.gpucode import GpuCode, needed_tools, read_gpu_code
from pjrtwheel.platforms import BinaryFormat
from pjrtwheel.probe.plugin import Job, ask_plugin, read_api_version
from pjrtwheel.verify.contents import read_contents
from pjrtwheel.verify.formats import find_format, read_libraries, read_library
from pjrtwheel.verify.library import Library
from pjrtwheel.verify.lookup import AskIndex, FindTool, find_unresolvable
from pjrtwheel.verify.model import Inspection, PluginDescription, describe_wheel
from pjrtwheel.verify.reported import find_library_findings, find_wheel_findings
from pjrtwheel.wheel.read.directory import open_wheel

__all__ = ["Inspection", "inspect_wheel"]

_TIME_LIMIT = 120.0


def inspect_wheel(
    wheel: Path,
    *,
    find_tool: FindTool,
    exports: Mapping[str, Sequence[str]],
    open_plugins: bool = False,
    ask_index: AskIndex | None = None,
) -> Inspection:
    """Read all there is to know about a wheel.

    Args:
        wheel: The wheel, from wherever it comes.
        find_tool: Finds the programs that reading GPU code takes.
        exports: File name of a known plugin library → the symbols it may define.
        open_plugins: Whether to open plugin libraries, which runs code of the wheel in a process of its own.
        ask_index: Returns the versions of a project, to see whether requirements are available; not asked when None.

    Raises:
        FetchError: The package index was to be asked, and cannot be reached.
        ProofError: A plugin was to be opened, and pypjrt is not installed.
        WheelError: The file is no wheel, or is damaged or hostile.
    """
    with open_wheel(wheel):
        pass  # refuses what must not be unpacked
    with tempfile.TemporaryDirectory(prefix="inspect-") as scratch:
        contents = read_contents(wheel, Path(scratch))
        libraries, damaged = read_libraries(contents.libraries, partial(_inspect_library, find_tool=find_tool))
        plugins = {
            library.member: _open_plugin(contents.libraries[library.member]) if open_plugins else PluginDescription()
            for library in libraries
            if library.is_plugin
        }
    inspection = describe_wheel(contents, hash_file(wheel), libraries, plugins if open_plugins else {})
    findings = [*find_wheel_findings(inspection, contents), *damaged]
    if ask_index is not None:
        findings += find_unresolvable(inspection.requires, ask_index)
    linked = {name for library in libraries for name in library.needed}
    for library in libraries:
        findings += find_library_findings(library, exports, linked)
    return replace(inspection, findings=tuple(findings))


def _inspect_library(path: Path, member: str, find_tool: FindTool) -> Library:
    if find_format(path, member) is not BinaryFormat.ELF:
        return replace(read_library(path, member), gpu_code=GpuCode())  # nobody has GPU code for other systems
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
    try:
        return strip(image).dropped, plan_repair(image).dropped_bytes
    except ElfError:
        return (), 0  # a search path that cannot be repaired in place; it is reported as a finding of its own


def _open_plugin(library: Path) -> PluginDescription:
    """Return what a library says about itself; what it needs must be found by the dynamic loader."""
    answer = ask_plugin(library, Job.DESCRIBE, time_limit=_TIME_LIMIT)
    refused = answer.get("refused") or answer.get("broke")
    if refused:
        return PluginDescription(refused=str(refused))
    return PluginDescription(
        pjrt_api=read_api_version(answer),
        slots=answer["slots"],
        extensions=tuple(entry["name"] or f"type {entry['type']}" for entry in answer["extensions"]),
        attributes=answer["attributes"],
    )
