# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of the shared objects inside a wheel, read independently of the code that repaired them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.constants import P_FLAGS
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from pjrtwheel.elf.symbols import LINKER_DEFINED
from pjrtwheel.errors import ElfError
from pjrtwheel.verify.finding import Problem

# aarch64 kernels may use pages of this size; a smaller alignment does not load there.
_LARGEST_PAGE = {"EM_AARCH64": 0x10000}


@dataclass(frozen=True, slots=True)
class Library:
    """What the dynamic loader will see of a shared object.

    Attributes:
        member: Its name in the wheel.
        machine: `e_machine`, as pyelftools spells it.
        exports: Symbols it defines for others, without their version.
        needed: Libraries that the loader must find for it.
        rpaths: Elements of RPATH and RUNPATH, in order.
        executable_stack: Whether its PT_GNU_STACK is missing or asks for an executable stack.
        alignment: The smallest alignment of its loaded segments.
    """

    member: str
    machine: str
    exports: tuple[str, ...]
    needed: tuple[str, ...]
    rpaths: tuple[str, ...]
    executable_stack: bool
    alignment: int


def read_library(path: Path, member: str) -> Library:
    """Read a shared object.

    Raises:
        ElfError: It is not an ELF file.
    """
    try:
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            segments = list(elf.iter_segments())
            stacks = [s["p_flags"] & P_FLAGS.PF_X for s in segments if s["p_type"] == "PT_GNU_STACK"]
            aligned = [s["p_align"] for s in segments if s["p_type"] == "PT_LOAD"]
            return Library(
                member=member,
                machine=elf["e_machine"],
                exports=_exports(elf),
                needed=_dynamic_texts(elf, {"DT_NEEDED": "needed"}),
                rpaths=_rpaths(elf),
                executable_stack=not stacks or any(stacks),
                alignment=min(aligned, default=0),
            )
    except ELFError as error:
        raise ElfError(f"{member} is not an ELF file", cause=str(error)) from error


def _exports(elf: ELFFile) -> tuple[str, ...]:
    """Return the names of defined, visible dynamic symbols; version nodes are absolute objects, not symbols."""
    section = elf.get_section_by_name(".dynsym")
    if not isinstance(section, SymbolTableSection):
        return ()
    return tuple(
        sorted(
            {
                symbol.name
                for symbol in section.iter_symbols()
                if symbol.name
                and symbol["st_shndx"] not in {"SHN_UNDEF", "SHN_ABS"}
                and symbol["st_info"]["bind"] in {"STB_GLOBAL", "STB_WEAK", "STB_LOOS"}
                and symbol["st_other"]["visibility"] in {"STV_DEFAULT", "STV_PROTECTED"}
            }
        )
    )


def _rpaths(elf: ELFFile) -> tuple[str, ...]:
    values = _dynamic_texts(elf, {"DT_RPATH": "rpath", "DT_RUNPATH": "runpath"})
    return tuple(element for value in values for element in value.split(":"))


def _dynamic_texts(elf: ELFFile, attributes: Mapping[str, str]) -> tuple[str, ...]:
    """Return texts of the dynamic table.

    Args:
        elf: The library.
        attributes: Kind of entry → where pyelftools puts its text.
    """
    section = elf.get_section_by_name(".dynamic")
    if not isinstance(section, DynamicSection):
        return ()
    return tuple(
        str(getattr(tag, attributes[tag.entry.d_tag])) for tag in section.iter_tags() if tag.entry.d_tag in attributes
    )


def check_library(library: Library, machine: str, search_paths: Sequence[str] = ()) -> Iterator[Problem]:
    """Right machine, no path of the build machine, no executable stack, loadable with the largest pages.

    Args:
        library: The library.
        machine: What it must be made for.
        search_paths: Elements of RPATH that are right although they lead out of `site-packages`.
    """
    if library.machine != machine:
        yield library.member, f"is for {library.machine}, expected {machine}"
    for element in library.rpaths:
        if element in search_paths:
            continue
        if element != "$ORIGIN" and not element.startswith("$ORIGIN/"):
            yield library.member, f"has RPATH element {element!r}, expected one below $ORIGIN"
        elif _leads_out(library.member, element):
            yield library.member, f"has RPATH element {element!r}, which leads out of site-packages"
    if len(set(library.rpaths)) != len(library.rpaths):
        yield library.member, f"has a repeated RPATH element in {':'.join(library.rpaths)!r}"
    if library.executable_stack:
        yield library.member, "asks for an executable stack"
    if library.alignment < _LARGEST_PAGE.get(library.machine, 0):
        yield library.member, f"has segments aligned to {library.alignment:#x}, too little for 64 KiB pages"


def _leads_out(member: str, element: str) -> bool:
    """Tell whether a path from the directory of a member ends above the root of the wheel."""
    target = posixpath.join(posixpath.dirname(member), element.removeprefix("$ORIGIN").lstrip("/"))
    return posixpath.normpath(target).split("/")[0] == ".."


def check_exports(library: Library, allowed: Sequence[str]) -> Iterator[Problem]:
    """The first allowed symbol is there, and none but the allowed ones."""
    if allowed[0] not in library.exports:
        yield library.member, f"does not export {allowed[0]!r}"
    extra = [name for name in library.exports if name not in {*allowed, *LINKER_DEFINED}]
    if extra:
        yield library.member, f"exports {len(extra)} symbols beyond the allowed ones: {', '.join(extra[:5])}"
