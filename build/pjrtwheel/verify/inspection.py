# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Say what a wheel is, and what is wrong with it. Nothing of the wheel runs, unless its plugins are to be opened."""

from __future__ import annotations

import configparser
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement

from pjrtwheel.backend import load_backends
from pjrtwheel.binaries import Library, find_format, read_library, version_key
from pjrtwheel.elf import ElfImage, plan_repair, read_image
from pjrtwheel.elf.repair import strip
from pjrtwheel.errors import ElfError, FetchError, PjrtWheelError
from pjrtwheel.fetch import WheelCache, cache_root, download_wheel, unpack_wheel
from pjrtwheel.fetch.index import OFFLINE_SIGNS, run_pip
from pjrtwheel.files import hash_file
from pjrtwheel.gpucode import GpuCode, merge_codes
from pjrtwheel.gpucode.reader import needed_tools, read_gpu_code
from pjrtwheel.platforms import BinaryFormat, host_platform
from pjrtwheel.probe.plugin import Job, ask_plugin, read_api_version
from pjrtwheel.release.known import load_release
from pjrtwheel.tables import write
from pjrtwheel.verify import documents
from pjrtwheel.verify.contents import WheelContents, read_contents, read_libraries
from pjrtwheel.verify.findings import Finding
from pjrtwheel.verify.libraries import Allowed, check_floors, check_libraries
from pjrtwheel.wheel.members import Member, open_wheel
from pjrtwheel.wheel.metadata import find_requirement

_TIME_LIMIT = 120.0


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
        libraries, damaged = read_libraries(contents, partial(_inspect_library, find_tool=find_tool))
        plugins = {
            library.member: _open_plugin(contents.libraries[library.member])
            for library in libraries
            if open_plugins and library.is_plugin
        }
    findings = [*documents.check_documents(contents), *damaged]
    findings += check_libraries(libraries, contents.name.platform, Allowed(exports))
    if libraries:
        findings += check_floors(libraries, contents.platform_tags)
    else:
        findings = [finding for finding in findings if finding.code != "lock"]
    inspection = _describe(contents, hash_file(wheel), libraries, plugins)
    if any(library.is_plugin for library in libraries) and not find_requirement(inspection.requires, "jaxlib"):
        findings.append(Finding("jaxlib-version", "", "requires no exact jaxlib, so installers combine it with any"))
    if ask_index is not None:
        findings += find_unresolvable(inspection.requires, ask_index)
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


def _describe(
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
        lock=documents.read_lock(contents),
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


_VERSIONS = re.compile(r"^Available versions: (.+)$", re.MULTILINE)

# The oldest Python of a release, which need not be the one that runs this.
_PYTHON = "--python-version=3.12"

# Name of a vendor's program → where it is, or nothing.
FindTool = Callable[[str], Path | None]

# Name of a project → its versions, the newest first.
AskIndex = Callable[[str], tuple[str, ...]]


def make_finder(root: Path, given: Mapping[str, Path], scratch: Path) -> FindTool:
    """Return a function that finds a program by name: where the user says, or else pinned and fetched, at most once.

    The root is another folder when there is no repository at hand; what is fetched is unpacked in `scratch`.
    """
    found: dict[str, Path | None] = dict(given)

    def find(name: str) -> Path | None:
        if name not in found:
            found[name] = _fetch(root, name, scratch)
        return found[name]

    return find


def _fetch(root: Path, name: str, scratch: Path) -> Path | None:
    """Return the pinned program, or nothing where it is not available: a wheel is described without it."""
    tools = {key: tool for backend in load_backends(root).values() for key, tool in backend.tools.items()}
    if name not in tools:
        return None
    try:
        pin = load_release(root).pin(f"tool.{name}.{host_platform().name}")
        wheel = WheelCache(cache_root(os.environ), download_wheel).fetch(pin)
        unpack_wheel(wheel, scratch, [tools[name].member])
    except PjrtWheelError as error:
        print(f"cannot get {name}: {error}", file=sys.stderr)
        return None
    program = scratch / tools[name].member
    program.chmod(0o755)
    return program


def find_unresolvable(requires: Iterable[str], ask_index: AskIndex) -> Iterator[Finding]:
    """Yield a finding for each `Requires-Dist` line that can be read and that no version of the index fulfils."""
    for line in requires:
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        if requirement.url:
            continue
        versions = ask_index(requirement.name)
        if not versions:
            yield Finding("requires-missing", "", f"requires {requirement.name}, which the package index does not have")
        elif not list(requirement.specifier.filter(versions, prereleases=True)):
            text = f"requires {requirement.name}{requirement.specifier}; the package index has up to {versions[0]}"
            yield Finding("requires-missing", "", text)


def ask_index(name: str) -> tuple[str, ...]:
    """Return the versions of a project, the newest first; none when there is no such project."""
    options = ("--disable-pip-version-check", "--no-input", "--only-binary=:all:", "--pre", _PYTHON)
    status, output = run_pip((sys.executable, "-m", "pip", "index", "versions", *options, name))
    return parse_versions(status, output, name)


def parse_versions(status: int, output: str, name: str) -> tuple[str, ...]:
    """Return the versions that pip listed.

    Raises:
        FetchError: The package index cannot be reached.
    """
    match = _VERSIONS.search(output)
    if match:
        return tuple(match[1].split(", "))
    if any(sign in output for sign in OFFLINE_SIGNS) or "No matching distribution found" not in output:
        lines = output.strip().splitlines() or [f"pip ended with status {status} and said nothing"]
        raise FetchError(f"cannot ask the package index for {name}", cause=lines[-1])
    return ()
