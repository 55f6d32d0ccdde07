# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read the facts about one shared object."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

from pjrtwheel.elf import ElfImage, layout, plan_repair, read_image
from pjrtwheel.elf.image import READ_ERRORS
from pjrtwheel.elf.strip import strip
from pjrtwheel.errors import ElfError
from pjrtwheel.gpucode import needed_tools, read_gpu_code
from pjrtwheel.inspect.facts import LibraryFacts, version_key

_DT_NEEDED = 1
_DT_SONAME = 14
_SEARCH = {layout.DT_RPATH: "RPATH", layout.DT_RUNPATH: "RUNPATH"}
_VERSION = re.compile(r"([A-Z]+)_(\d+(?:\.\d+)*)")

# Name of a vendor's program → where it is, or nothing.
FindTool = Callable[[str], Path | None]


def inspect_library(path: Path, member: str, find_tool: FindTool) -> LibraryFacts:
    """Read a shared object.

    Args:
        path: Where it was unpacked.
        member: Its path in the wheel.
        find_tool: Finds the programs that reading GPU code takes.

    Raises:
        ElfError: It is not an ELF file, or is damaged.
    """
    with path.open("rb") as file:
        image = read_image(file, member)
        try:
            floors = _floors(file)
        except READ_ERRORS as error:
            raise ElfError(f"{member} is a damaged ELF file", cause=f"{type(error).__name__}: {error}") from error
    facts = _facts(image, floors)
    found = {name: find_tool(name) for name in needed_tools(image)}
    try:
        code = read_gpu_code(path, {name: tool for name, tool in found.items() if tool}, where="it")
    except ElfError as error:
        missing = "".join(f"; give it with --tool {name}=PATH" for name, tool in found.items() if not tool)
        return replace(facts, gpu_problem=error.what + missing)
    return replace(facts, gpu_code=code)


def _facts(image: ElfImage, floors: dict[str, str]) -> LibraryFacts:
    """Put together what the headers and tables say."""
    loads = [segment.align for segment in image.segments if segment.type == layout.PT_LOAD]
    stacks = [segment.flags & layout.PF_X for segment in image.segments if segment.type == layout.PT_GNU_STACK]
    kinds = [kind for tag, kind in _SEARCH.items() if any(entry.tag == tag for entry in image.dynamic)]
    paths = [path for tag in _SEARCH for path in _strings(image, tag)]
    sizes = dict.fromkeys(image.names, 0)
    for name, section in zip(image.names, image.sections, strict=True):
        sizes[name] += section.file_size
    dropped, dropped_bytes = _unneeded(image)
    return LibraryFacts(
        member=image.where,
        machine=image.machine,
        soname="".join(_strings(image, _DT_SONAME)),
        needed=tuple(_strings(image, _DT_NEEDED)),
        search_kind="+".join(kinds),
        search_paths=tuple(element for path in paths for element in path.split(":")),
        exports=image.exports,
        floors=floors,
        executable_stack=not stacks or any(stacks),
        alignment=min(loads, default=0),
        unneeded=dropped,
        unneeded_bytes=dropped_bytes,
        sections=tuple(sorted(((n, s) for n, s in sizes.items() if s), key=lambda entry: (-entry[1], entry[0]))),
    )


def _unneeded(image: ElfImage) -> tuple[tuple[str, ...], int]:
    """Return the sections that repair would drop, and the bytes that would save."""
    try:
        return strip(image).dropped, plan_repair(image).dropped_bytes
    except ElfError:
        return (), 0  # a search path that cannot be repaired in place; it is told as a finding of its own


def _strings(image: ElfImage, tag: int) -> Iterator[str]:
    """Yield the text of each entry of the dynamic table with this tag.

    Raises:
        ElfError: One lies outside of the string table.
    """
    for entry in image.dynamic:
        if entry.tag == tag:
            end = image.dynstr.find(b"\0", entry.value)
            if end < 0:
                raise ElfError(f"{image.where} is a damaged ELF file", cause="a name lies outside its string table")
            yield image.dynstr[entry.value : end].decode("utf-8", "replace")


def _floors(file: BinaryIO) -> dict[str, str]:
    """Return the highest version of each family of symbol versions that the library needs."""
    file.seek(0)
    floors: dict[str, str] = {}
    for section in ELFFile(file).iter_sections():
        if isinstance(section, GNUVerNeedSection):
            for _, names in section.iter_versions():
                for match in (_VERSION.fullmatch(str(name.name)) for name in names):
                    if match:
                        floors[match[1]] = max(floors.get(match[1], "0"), match[2], key=version_key)
    return dict(sorted(floors.items()))
