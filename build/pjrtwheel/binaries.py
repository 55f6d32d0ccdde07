# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read shared libraries of Linux, macOS and Windows, which may be hostile, into one model: what their loaders see.

Nothing here is shared with the code that repairs libraries (`elf/`): what that gets wrong must not look right.
pyelftools reads ELF files, LIEF those of macOS and Windows.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import lief
from elftools.common.exceptions import ELFError
from elftools.elf.constants import P_FLAGS
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection
from elftools.elf.sections import SymbolTableSection
from elftools.elf.segments import Segment
from lief import PE, MachO

from pjrtwheel.errors import ElfError, WheelError
from pjrtwheel.gpucode import GpuCode
from pjrtwheel.platforms import BinaryFormat

ENTRY_POINT = "GetPjrtApi"
MACOS, WINDOWS = "macOS", "Windows"
SYSTEMS = (MACOS, WINDOWS)

# How files of each format begin.
_MAGICS = {b"\x7fELF": BinaryFormat.ELF, b"MZ": BinaryFormat.PE} | {
    bytes.fromhex(text): BinaryFormat.MACH_O
    for text in ("cafebabe", "cafebabf", "cefaedfe", "cffaedfe", "feedface", "feedfacf")
}
_SUFFIXES = {".dylib": BinaryFormat.MACH_O, ".pyd": BinaryFormat.PE, ".dll": BinaryFormat.PE}
_NEED_SIZE = 16  # bytes of Elf64_Verneed, so a file holds no more of them than its length allows
_VERSION = re.compile(r"([A-Z]+)_(\d+(?:\.\d+)*)")
_MACHO_MACHINES = {0x01000007: "x86_64", 0x0100000C: "arm64", 7: "i386"}  # CPU_TYPE_* of <mach/machine.h>
_PE_MACHINES = {0x14C: "I386", 0x8664: "AMD64", 0xAA64: "ARM64"}  # IMAGE_FILE_MACHINE_* of <winnt.h>
# Magic of the blob of a certificate (xnu's `cs_blobs.h`), and its length where there is none in it.
_CERTIFICATE, _EMPTY = bytes.fromhex("fade0b01"), bytes.fromhex("00000008")


@dataclass(frozen=True, slots=True)
class Library:
    """One shared library of a wheel.

    Attributes:
        member: Its path in the wheel.
        machine: As in `Platform.machine`; those of a fat Mach-O file are joined by `+`.
        binary_format: The format of the file.
        soname: The name under which others are linked to it (in a Mach-O file the install name).
        needed: Libraries that the loader must find for it, in order.
        search_kind: `RPATH` or `RUNPATH`; empty when it has neither.
        search_paths: The elements of both.
        exports: Symbols it defines for others, without their version, sorted.
        floors: What it needs at least: the highest version of each family of symbols, such as `GLIBC` → `2.27`, or of
            the operating system, such as `macOS` → `11.0`.
        executable_stack: Whether an ELF file's PT_GNU_STACK is missing or asks for an executable stack.
        alignment: The smallest alignment of an ELF file's loaded segments.
        signature: The kind of its code signature, such as `ad hoc`; empty when it has none.
        unneeded: Names of the sections that no loader reads; `inspect` asks for it, as for all that follows.
        unneeded_bytes: How much shorter the file would be without them; nothing when that was not read.
        gpu_code: The chips it holds code for; nothing when that was not read, for the reason in `gpu_problem`. Of
            macOS it is not read.
        pjrt_api: Version of a plugin's PJRT API, such as `0.116`; empty when it was not read.
        size: Its length in bytes.
    """

    member: str
    machine: str
    binary_format: BinaryFormat = BinaryFormat.ELF
    soname: str = ""
    needed: tuple[str, ...] = ()
    search_kind: str = ""
    search_paths: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()
    floors: dict[str, str] = field(default_factory=dict)
    executable_stack: bool = False
    alignment: int = 0
    signature: str = ""
    unneeded: tuple[str, ...] = ()
    unneeded_bytes: int | None = None
    gpu_code: GpuCode | None = None
    gpu_problem: str = ""
    pjrt_api: str = ""
    size: int = 0

    @property
    def is_plugin(self) -> bool:
        """Whether it implements the PJRT C API."""
        return ENTRY_POINT in self.exports


def version_key(version: str) -> tuple[int, ...]:
    """Return a key that sorts versions by number.

    >>> max(["2.4", "2.27"], key=version_key)
    '2.27'
    """
    return tuple(int(part) for part in version.split("."))


def find_format(path: Path, member: str) -> BinaryFormat:
    """Return the format of a file by its content; by its name in the wheel where the content is of none."""
    with path.open("rb") as file:
        start = file.read(4)
    by_content = (name for magic, name in _MAGICS.items() if start.startswith(magic))
    by_name = (name for suffix, name in _SUFFIXES.items() if member.endswith(suffix))
    return next(by_content, next(by_name, BinaryFormat.ELF))


def read_library(path: Path, member: str) -> Library:
    """Read a library of any format, which messages call `member`.

    Raises:
        ElfError: It is not an ELF file, though its name is that of one, or is damaged.
        WheelError: The same of the other formats.
    """
    lief.logging.disable()
    kind = find_format(path, member)
    damage = ElfError if kind is BinaryFormat.ELF else WheelError
    try:
        found = _READERS[kind](path, member)
    except ELFError as error:
        raise ElfError(f"{member} is not an ELF file", cause=str(error)) from error
    except Exception as error:
        raise damage(f"{member} is a damaged {kind} file", cause=f"{type(error).__name__}: {error}") from error
    if found is None:
        raise WheelError(f"{member} is not a whole {kind} file")
    return replace(found, size=path.stat().st_size)


def _read_elf(path: Path, member: str) -> Library:
    with path.open("rb") as stream:
        return _describe_elf(ELFFile(stream), member, path.stat().st_size)


def _describe_elf(elf: ELFFile, member: str, size: int) -> Library:
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
        exports=_elf_exports(elf, segments),
        floors=_elf_floors(elf, size),
        executable_stack=not stacks or any(stacks),
        alignment=min((segment["p_align"] for segment in segments if segment["p_type"] == "PT_LOAD"), default=0),
    )


def _elf_exports(elf: ELFFile, segments: Sequence[Segment]) -> tuple[str, ...]:
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


def _elf_floors(elf: ELFFile, size: int) -> dict[str, str]:
    floors: dict[str, str] = {}
    tables = [section for section in elf.iter_sections() if isinstance(section, GNUVerNeedSection)]
    for table in tables:
        for _, names in islice(table.iter_versions(), size // _NEED_SIZE):
            for match in (_VERSION.fullmatch(str(name.name)) for name in names):
                if match:
                    floors[match[1]] = max(floors.get(match[1], "0"), match[2], key=version_key)
    return dict(sorted(floors.items()))


def _read_macho(path: Path, member: str) -> Library | None:
    """Read a dynamic library or bundle; of a fat file, the first one in it."""
    options = MachO.ParserConfig()
    options.parse_dyld_bindings = options.parse_dyld_rebases = False
    parsed = MachO.parse(str(path), options)
    found = [parsed.at(number) for number in range(parsed.size)] if parsed else []
    images = [image for image in found if image and image.header.nb_cmds == len(image.commands)]
    return _describe_macho(path, member, images) if images and len(images) == len(found) else None


def _describe_macho(path: Path, member: str, images: Sequence[MachO.Binary]) -> Library:
    first = images[0]
    own = [entry.name for entry in first.libraries if entry.command is MachO.LoadCommand.TYPE.ID_DYLIB]
    return Library(
        member=member,
        machine="+".join(_read_number(path, image.fat_offset + 4, 4, _MACHO_MACHINES) for image in images),
        binary_format=BinaryFormat.MACH_O,
        soname="".join(map(str, own)),
        needed=tuple(
            str(entry.name) for entry in first.libraries if entry.command is not MachO.LoadCommand.TYPE.ID_DYLIB
        ),
        search_kind="RPATH" if first.has_rpath else "",
        search_paths=tuple(str(entry.path) for entry in first.rpaths),
        exports=_macho_exports(first),
        floors=_macho_floors(images),
        signature=_macho_signature(images),
    )


def _macho_exports(image: MachO.Binary) -> tuple[str, ...]:
    """Return the names that the loader offers to others; those of C have an underscore in front, which is dropped."""
    old, new = image.dyld_info, image.dyld_exports_trie
    entries = [*(old.exports if old else ()), *(new.exports if new else ())]
    names = {str(entry.symbol.name) for entry in entries if entry.symbol}
    return tuple(sorted(name.removeprefix("_") for name in names))


def _macho_floors(images: Sequence[MachO.Binary]) -> dict[str, str]:
    """Return the oldest macOS on which all images run; nothing where one does not say."""
    versions = [
        image.build_version.minos if image.build_version else image.version_min.version if image.version_min else []
        for image in images
    ]
    if not all(versions):
        return {}
    return {MACOS: max((f"{version[0]}.{version[1]}" for version in versions), key=version_key)}


def _macho_signature(images: Sequence[MachO.Binary]) -> str:
    """Return the kind of the signatures: `ad hoc`, which needs no certificate; empty unless all images have one."""
    found = [bytes(image.code_signature.content) if image.code_signature else b"" for image in images]
    if not all(found):
        return ""
    _, certificate, rest = found[0].partition(_CERTIFICATE)
    return "by certificate" if certificate and not rest.startswith(_EMPTY) else "ad hoc"


def _read_pe(path: Path, member: str) -> Library | None:
    """Read a DLL, which Python's extension modules are as well."""
    options = PE.ParserConfig()
    options.parse_reloc = options.parse_rsrc = False
    found = PE.parse(str(path), options)
    return _describe_pe(path, member, found) if found else None


def read_dll_section(path: Path, name: str) -> bytes:
    """Return a section of a DLL without its padding; empty if there is none of this name."""
    found = PE.parse(str(path))
    section = found.get_section(name) if found else None
    return bytes(section.content)[: section.virtual_size] if section else b""


def _describe_pe(path: Path, member: str, found: PE.Binary) -> Library:
    options, export = found.optional_header, found.get_export()
    needed = [*found.imports, *found.delay_imports]
    return Library(
        member=member,
        machine=_read_number(path, found.dos_header.addressof_new_exeheader + 4, 2, _PE_MACHINES),
        binary_format=BinaryFormat.PE,
        soname=str(export.name) if export else "",
        needed=tuple(str(entry.name) for entry in needed),
        exports=tuple(sorted({str(entry.name) for entry in export.entries} - {""})) if export else (),
        floors={WINDOWS: f"{options.major_subsystem_version}.{options.minor_subsystem_version}"},
        signature="Authenticode" if found.has_signatures else "",
    )


def _read_number(path: Path, start: int, length: int, names: dict[int, str]) -> str:
    """Return the processor that a header names; LIEF prints a warning about one that it does not know."""
    with path.open("rb") as file:
        file.seek(start)
        number = int.from_bytes(file.read(length), "little")
    return names.get(number, f"{number:#x}")


_READERS: dict[BinaryFormat, Callable[[Path, str], Library | None]] = {
    BinaryFormat.ELF: _read_elf,
    BinaryFormat.MACH_O: _read_macho,
    BinaryFormat.PE: _read_pe,
}
