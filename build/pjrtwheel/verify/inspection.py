# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Say what a wheel is, and what is wrong with it. Nothing of the wheel runs."""

import configparser
import functools
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from pjrtwheel.backend import load_backends
from pjrtwheel.binaries import Library, find_format, read_dll_section, read_library, version_key
from pjrtwheel.elf.image import ElfImage, read_image
from pjrtwheel.elf.repair import plan_repair, strip
from pjrtwheel.errors import ElfError, PjrtWheelError
from pjrtwheel.fetch import WheelCache, cache_root, download_wheel, unpack_wheel
from pjrtwheel.files import hash_file
from pjrtwheel.gpucode import GpuCode, merge_codes
from pjrtwheel.gpucode.reader import NVIDIA_PE_SECTION, needed_tools, read_dll_gpu_code, read_gpu_code
from pjrtwheel.platforms import BinaryFormat, host_platform
from pjrtwheel.release.known import load_release
from pjrtwheel.verify import documents
from pjrtwheel.verify.contents import WheelContents, read_contents, read_libraries
from pjrtwheel.verify.findings import Finding
from pjrtwheel.verify.libraries import Allowed, check_floors, check_libraries, find_missing
from pjrtwheel.verify.pjrt_api import read_pjrt_api
from pjrtwheel.wheel.metadata import find_requirement

_COMMON = {"jax_plugins"}  # the package in which JAX looks for plugins
# Name of a vendor's program → where it is, or nothing.
FindTool = Callable[[str], Path | None]


@dataclass(frozen=True, slots=True)
class InspectedFile:
    """A member of a wheel: its length in bytes, and how much of the wheel it takes."""

    path: str
    size: int
    compressed: int


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
        outside: What runs by itself, or is installed elsewhere than in the project's own package.
        license: The licence expression, or else the deprecated field.
        sboms: Paths of bills of materials.
        lock: The release lock; nothing when there is none.
        files: Every member, the largest first.
        floors: The highest version of each family that any library needs.
        missing: Libraries that they need, and that neither the wheel nor every system has.
        gpu_code: The chips that all libraries together hold code for.
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
    outside: tuple[str, ...]
    license: str
    license_files: tuple[str, ...]
    sboms: tuple[str, ...]
    lock: dict[str, Any] | None
    files: tuple[InspectedFile, ...]
    libraries: tuple[Library, ...]
    floors: Mapping[str, str]
    missing: tuple[str, ...]
    gpu_code: GpuCode
    findings: tuple[Finding, ...]


def inspect_wheel(wheel: Path, *, find_tool: FindTool, exports: Mapping[str, Sequence[str]]) -> Inspection:
    """Read all there is to know about a wheel.

    Args:
        wheel: The wheel, from wherever it comes.
        find_tool: Finds the programs that reading GPU code takes.
        exports: File name of a known plugin library → the symbols it may define.

    Raises:
        WheelError: The file is no wheel, or is damaged or hostile.
    """
    with tempfile.TemporaryDirectory(prefix="inspect-") as scratch:
        contents = read_contents(wheel, Path(scratch))
        libraries, damaged = read_libraries(contents, partial(_inspect_library, find_tool=find_tool))
    findings = [*documents.check_documents(contents), *damaged]
    findings += check_libraries(libraries, contents.name.platform, Allowed(exports))
    if libraries:
        findings += check_floors(libraries, contents.platform_tags)
    else:
        findings = [finding for finding in findings if finding.code != "lock"]
    if any(library.is_plugin for library in libraries):
        findings += _check_jaxlib(contents.headers("METADATA").get_all("Requires-Dist", []))
    return _describe(contents, libraries, findings)


def _check_jaxlib(requires: Sequence[str]) -> Iterator[Finding]:
    if not find_requirement(requires, "jaxlib"):
        ranges = [line for line in requires if re.match(r"jax(lib)?(?![\w.-])[^\[]*$", line) and "extra" not in line]
        which = f"{', '.join(ranges)}: installers take any of these" if ranges else "no jaxlib: installers take any"
        yield Finding("jaxlib-version", "", f"requires {which}")


def _inspect_library(path: Path, member: str, find_tool: FindTool) -> Library:
    kind = find_format(path, member)
    image = None
    if kind is BinaryFormat.ELF:
        with path.open("rb") as file:
            image = read_image(file, member)  # first, as it refuses what would lead another reader astray
    library = read_library(path, member)
    library = replace(library, pjrt_api=read_pjrt_api(path) if library.is_plugin else "")
    if kind is BinaryFormat.MACH_O:
        return library
    try:
        if image is None:
            section = read_dll_section(path, NVIDIA_PE_SECTION)
            return replace(library, gpu_code=read_dll_gpu_code(section, find_tool, where="it"))
        unneeded, unneeded_bytes = _unneeded(image)
        library = replace(library, unneeded=unneeded, unneeded_bytes=unneeded_bytes)
        found = {name: find_tool(name) for name in needed_tools(image)}
        code = read_gpu_code(path, {name: tool for name, tool in found.items() if tool}, where="it")
    except ElfError as error:
        return replace(library, gpu_problem=error.what)
    return replace(library, gpu_code=code)


def _unneeded(image: ElfImage) -> tuple[tuple[str, ...], int]:
    try:
        return strip(image).dropped, plan_repair(image).dropped_bytes
    except ElfError:
        return (), 0  # a search path that cannot be repaired in place; it is reported as a finding of its own


def _describe(contents: WheelContents, libraries: Sequence[Library], findings: Sequence[Finding]) -> Inspection:
    """Put together what a wheel says about itself, and what was found in it."""
    headers, wheel = contents.headers("METADATA"), contents.headers("WHEEL")
    files = [InspectedFile(path, member.size, contents.compressed[path]) for path, member in contents.members.items()]
    return Inspection(
        wheel=contents.path.name,
        size=contents.path.stat().st_size,
        sha256=hash_file(contents.path),
        installed_size=sum(file.size for file in files),
        name=headers.get("Name", ""),
        version=headers.get("Version", ""),
        summary=headers.get("Summary", ""),
        tags=tuple(sorted(map(str, contents.name.tags))),
        build=contents.name.build,
        purelib={"true": True, "false": False}.get(wheel.get("Root-Is-Purelib", "").strip().lower()),
        requires_python=headers.get("Requires-Python", ""),
        requires=tuple(headers.get_all("Requires-Dist", [])),
        extras=tuple(headers.get_all("Provides-Extra", [])),
        entry_points=tuple(f"{group}: {name} = {target}" for group, name, target in _entry_points(contents)),
        outside=tuple(_list_outside(contents)),
        license=headers.get("License-Expression", headers.get("License", "")),
        license_files=_license_files(contents),
        sboms=tuple(name for name in contents.members if name.startswith(f"{contents.dist_info}/sboms/")),
        lock=documents.read_lock(contents),
        files=tuple(sorted(files, key=lambda file: (-file.size, file.path))),
        libraries=tuple(libraries),
        floors=_merge_floors(libraries),
        missing=tuple(sorted({name for _, name in find_missing(contents, libraries)})),
        gpu_code=merge_codes(library.gpu_code for library in libraries if library.gpu_code is not None),
        findings=tuple(findings),
    )


def _merge_floors(libraries: Iterable[Library]) -> dict[str, str]:
    floors: dict[str, str] = {}
    for library in libraries:
        for family, version in library.floors.items():
            floors[family] = max(floors.get(family, "0"), version, key=version_key)
    return dict(sorted(floors.items()))


def _license_files(contents: WheelContents) -> tuple[str, ...]:
    """Return the licence files, in the place of PEP 639 or directly in the metadata as before it."""
    named = contents.headers("METADATA").get_all("License-File", [])
    places = [f"{contents.dist_info}/{folder}{name}" for name in named for folder in ("licenses/", "")]
    return tuple(dict.fromkeys(place for place in places if place in contents.members))


def _entry_points(contents: WheelContents) -> list[tuple[str, str, str]]:
    """Return the group, name and target of each entry point; none when the file cannot be read."""
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    try:
        parser.read_string(contents.texts.get(f"{contents.dist_info}/entry_points.txt", ""))
    except configparser.Error:
        return []
    return [(group, name, target) for group in parser.sections() for name, target in parser[group].items()]


def _list_outside(contents: WheelContents) -> Iterator[str]:
    """Yield what a wheel does beyond bringing the package of its own name."""
    own = contents.name.distribution.replace("-", "_")
    roots = {member.split("/")[0] for member in contents.members if not member.endswith(".pth")} - {contents.dist_info}
    for root in sorted(roots):
        if root.endswith(".data"):
            yield f"{root} goes elsewhere than into site-packages"
        elif root not in _COMMON and canonicalize_name(root.split(".")[0]) != contents.name.distribution:
            yield f"{root} is a module of another name than {own}"
    for group, name, target in _entry_points(contents):
        if group in {"console_scripts", "gui_scripts"}:
            yield f"{name} is a command"
        elif target.split(".")[0].split(":")[0].strip() not in {root.removesuffix(".py") for root in roots}:
            yield f"{group}: {name} is in a package that the wheel does not bring"


def make_finder(root: Path, scratch: Path) -> FindTool:
    """Return a function that finds a program by name: pinned, and fetched at most once.

    The root is another folder when there is no repository at hand; what is fetched is unpacked in `scratch`.
    """
    return functools.cache(partial(_fetch, root, scratch))


def _fetch(root: Path, scratch: Path, name: str) -> Path | None:
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
