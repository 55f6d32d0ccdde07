# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What Linux sees of a library, read independently of the code that repairs it."""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Sequence
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

from pjrtwheel.binaries.library import Library, largest_first, version_key
from pjrtwheel.errors import ElfError

_NEED_SIZE = 16  # bytes of Elf64_Verneed, so a file holds no more of them than its length allows
# What pyelftools raises over a damaged file; OSError comes from a seek to where no file can reach.
_DAMAGE = (ArithmeticError, AssertionError, AttributeError, ConstructError, LookupError, OSError, TypeError, ValueError)
_VERSION = re.compile(r"([A-Z]+)_(\d+(?:\.\d+)*)")


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
    return largest_first(sizes)
