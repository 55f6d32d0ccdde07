# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Say what a wheel is, and what is wrong with it. Nothing of the wheel runs, unless its plugins are to be opened."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pjrtwheel.errors import ElfError
from pjrtwheel.files import hash_file
from pjrtwheel.inspect.findings import find_library_findings, find_wheel_findings
from pjrtwheel.inspect.index import AskIndex, find_unresolvable
from pjrtwheel.inspect.model import Inspection, PluginDescription
from pjrtwheel.inspect.reader import FindTool, describe_wheel, inspect_library, open_plugin
from pjrtwheel.verify.contents import WheelContents, read_contents
from pjrtwheel.verify.findings import Finding
from pjrtwheel.verify.library import Library
from pjrtwheel.wheel.read.directory import open_wheel

__all__ = ["FindTool", "Inspection", "inspect_wheel"]


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
        WheelError: The file is no wheel, or is damaged or hostile.
    """
    with open_wheel(wheel):
        pass  # refuses what must not be unpacked
    with tempfile.TemporaryDirectory(prefix="inspect-") as scratch:
        contents = read_contents(wheel, Path(scratch))
        libraries, damaged = _inspect_libraries(contents, find_tool)
        plugins = {
            library.member: open_plugin(contents.libraries[library.member]) if open_plugins else PluginDescription()
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


def _inspect_libraries(contents: WheelContents, find_tool: FindTool) -> tuple[tuple[Library, ...], tuple[Finding, ...]]:
    """Return each library, and a finding for each that cannot be read."""
    libraries: list[Library] = []
    damaged: list[Finding] = []
    for member, path in contents.libraries.items():
        try:
            libraries.append(inspect_library(path, member, find_tool))
        except ElfError as error:
            damaged.append(Finding("library", member, error.what + (f": {error.cause}" if error.cause else "")))
    return tuple(libraries), tuple(damaged)
