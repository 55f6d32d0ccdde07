# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the dynamic loader will see of a shared object, read independently of the code that repairs it; its checks."""

from __future__ import annotations

import posixpath
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.construct import ConstructError
from elftools.elf.constants import P_FLAGS
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection
from elftools.elf.sections import SymbolTableSection
from elftools.elf.segments import Segment

from pjrtwheel.elf.image import LINKER_DEFINED
from pjrtwheel.elf.layout import largest_page
from pjrtwheel.errors import ElfError
from pjrtwheel.gpucode import GpuCode
from pjrtwheel.verify.findings import Finding, Problem, describe_error

ENTRY_POINT = "GetPjrtApi"
_NEED_SIZE = 16  # bytes of Elf64_Verneed, so a file holds no more of them than its length allows
# What pyelftools raises over a damaged file; OSError comes from a seek to where no file can reach.
_DAMAGE = (ArithmeticError, AssertionError, AttributeError, ConstructError, LookupError, OSError, TypeError, ValueError)
_VERSION = re.compile(r"([A-Z]+)_(\d+(?:\.\d+)*)")


@dataclass(frozen=True, slots=True)
class Library:
    """One shared object of a wheel.

    Attributes:
        member: Its path in the wheel.
        machine: `e_machine`, as pyelftools spells it.
        needed: Libraries that the loader must find for it, in order.
        search_kind: `RPATH` or `RUNPATH`; empty when it has neither.
        search_paths: The elements of both.
        exports: Symbols it defines for others, without their version, sorted.
        floors: Family of symbol versions → the highest it needs, such as `GLIBC` → `2.27`.
        executable_stack: Whether its PT_GNU_STACK is missing or asks for an executable stack.
        alignment: The smallest alignment of its loaded segments.
        sections: Name and length of each section that takes room in the file, the largest first.
        unneeded: Names of the sections that no loader reads; `inspect` asks for it, as for all that follows.
        unneeded_bytes: How much shorter the file would be without them.
        gpu_code: The chips it holds code for; nothing when that was not read, for the reason in `gpu_problem`.
    """

    member: str
    machine: str
    soname: str = ""
    needed: tuple[str, ...] = ()
    search_kind: str = ""
    search_paths: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()
    floors: dict[str, str] = field(default_factory=dict)
    executable_stack: bool = False
    alignment: int = 0
    sections: tuple[tuple[str, int], ...] = ()
    unneeded: tuple[str, ...] = ()
    unneeded_bytes: int = 0
    gpu_code: GpuCode | None = None
    gpu_problem: str = ""

    @property
    def is_plugin(self) -> bool:
        """Whether it implements the PJRT C API."""
        return ENTRY_POINT in self.exports


def read_library(path: Path, member: str) -> Library:
    """Read a shared object.

    Raises:
        ElfError: It is not an ELF file, or is damaged.
    """
    try:
        with path.open("rb") as stream:
            return _read(ELFFile(stream), member, path.stat().st_size)
    except ELFError as error:
        raise ElfError(f"{member} is not an ELF file", cause=str(error)) from error
    except (*_DAMAGE, struct.error) as error:
        raise ElfError(f"{member} is a damaged ELF file", cause=f"{type(error).__name__}: {error}") from error


def read_libraries(
    libraries: Mapping[str, Path], read: Callable[[Path, str], Library]
) -> tuple[list[Library], list[Finding]]:
    """Return each library as `read` describes it, and a finding for each that cannot be read."""
    found: list[Library] = []
    damaged: list[Finding] = []
    for member, path in libraries.items():
        try:
            found.append(read(path, member))
        except ElfError as error:
            damaged.append(Finding("library", member, describe_error(error)))
    return found, damaged


def version_key(version: str) -> tuple[int, ...]:
    """Return a key that sorts versions of symbols by number.

    >>> max(["2.4", "2.27"], key=version_key)
    '2.27'
    """
    return tuple(int(part) for part in version.split("."))


def _read(elf: ELFFile, member: str, size: int) -> Library:
    segments = list(elf.iter_segments())
    stacks = [segment["p_flags"] & P_FLAGS.PF_X for segment in segments if segment["p_type"] == "PT_GNU_STACK"]
    texts = _dynamic_texts(segments)
    kinds = {kind: texts[kind] for kind in ("RPATH", "RUNPATH") if texts[kind]}
    return Library(
        member=member,
        machine=str(elf["e_machine"]),
        soname="".join(texts["SONAME"]),
        needed=tuple(texts["NEEDED"]),
        search_kind="+".join(kinds),
        search_paths=tuple(element for paths in kinds.values() for path in paths for element in path.split(":")),
        exports=_exports(elf, segments),
        floors=_floors(elf, size),
        executable_stack=not stacks or any(stacks),
        alignment=min((segment["p_align"] for segment in segments if segment["p_type"] == "PT_LOAD"), default=0),
        sections=_sections(elf),
    )


def _exports(elf: ELFFile, segments: Sequence[Segment]) -> tuple[str, ...]:
    """Return the names of defined, visible dynamic symbols; version nodes are absolute objects, not symbols."""
    found = (elf.get_section_by_name(".dynsym"), *segments)
    table = next((part for part in found if isinstance(part, (SymbolTableSection, DynamicSegment))), None)
    names = {
        symbol.name
        for symbol in (table.iter_symbols() if table else ())
        if symbol["st_shndx"] not in {"SHN_UNDEF", "SHN_ABS"}
        and symbol["st_info"]["bind"] in {"STB_GLOBAL", "STB_WEAK", "STB_LOOS"}
        and symbol["st_other"]["visibility"] in {"STV_DEFAULT", "STV_PROTECTED"}
    }
    return tuple(sorted(names - {""}))


def _dynamic_texts(segments: Sequence[Segment]) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {"NEEDED": [], "SONAME": [], "RPATH": [], "RUNPATH": []}
    for segment in segments:
        if isinstance(segment, DynamicSegment):
            for tag in segment.iter_tags():
                kind = str(tag.entry.d_tag).removeprefix("DT_")
                if kind in texts:
                    texts[kind].append(str(getattr(tag, kind.lower())))
    return texts


def _floors(elf: ELFFile, size: int) -> dict[str, str]:
    floors: dict[str, str] = {}
    tables = [section for section in elf.iter_sections() if isinstance(section, GNUVerNeedSection)]
    for table in tables:
        for _, names in islice(table.iter_versions(), size // _NEED_SIZE):
            for match in (_VERSION.fullmatch(str(name.name)) for name in names):
                if match:
                    floors[match[1]] = max(floors.get(match[1], "0"), match[2], key=version_key)
    return dict(sorted(floors.items()))


def _sections(elf: ELFFile) -> tuple[tuple[str, int], ...]:
    """Return names and lengths; sections of one name are taken together."""
    sizes: Counter[str] = Counter()
    for section in elf.iter_sections():
        if section["sh_type"] not in {"SHT_NULL", "SHT_NOBITS"}:
            sizes[section.name] += section["sh_size"]
    return tuple(
        sorted(((name, size) for name, size in sizes.items() if size), key=lambda entry: (-entry[1], entry[0]))
    )


def check_library(library: Library, machine: str, search_paths: Sequence[str] = ()) -> Iterator[Problem]:
    """Right machine, no path of the build machine, no executable stack, loadable with the largest pages.

    The given search paths are right although they lead out of `site-packages`.
    """
    if library.machine != machine:
        yield library.member, f"is for {library.machine}, expected {machine}"
    for element in library.search_paths:
        if element in search_paths:
            continue
        if element != "$ORIGIN" and not element.startswith("$ORIGIN/"):
            yield library.member, f"has RPATH element {element!r}, expected one below $ORIGIN"
        elif _leads_out(library.member, element):
            yield library.member, f"has RPATH element {element!r}, which leads out of site-packages"
    if len(set(library.search_paths)) != len(library.search_paths):
        yield library.member, f"has a repeated RPATH element in {':'.join(library.search_paths)!r}"
    if library.executable_stack:
        yield library.member, "asks for an executable stack"
    page = largest_page(library.machine)
    if library.alignment < page:
        yield library.member, f"has segments aligned to {library.alignment:#x}, too little for {page // 1024} KiB pages"


def _leads_out(member: str, element: str) -> bool:
    """Return whether a path from the directory of a member ends above the root of the wheel."""
    target = posixpath.join(posixpath.dirname(member), element.removeprefix("$ORIGIN").lstrip("/"))
    return posixpath.normpath(target).split("/")[0] == ".."


def check_exports(library: Library, allowed: Sequence[str]) -> Iterator[Problem]:
    """The first allowed symbol is there, and none but the allowed ones."""
    if allowed[0] not in library.exports:
        yield library.member, f"does not export {allowed[0]!r}"
    extra = [name for name in library.exports if name not in {*allowed, *LINKER_DEFINED}]
    if extra:
        yield library.member, f"exports {len(extra)} symbols beyond the allowed ones: {', '.join(extra[:5])}"
