# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What Windows sees of a library, and its checks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import lief
from lief import PE

from pjrtwheel.errors import WheelError
from pjrtwheel.platforms import BinaryFormat
from pjrtwheel.verify import checkers
from pjrtwheel.verify.contents import WheelContents
from pjrtwheel.verify.findings import Problem
from pjrtwheel.verify.library import Library, check_machine, largest_first

CODE = "pe"
WHEEL_CODE = "delvewheel"
SUFFIXES: tuple[str, ...] = (".pyd", ".dll")
SYSTEM = "Windows"
# The C++ runtime of the Visual C++ Redistributable: Python brings the one for C only. Upstream's `jaxlib` needs it,
# JAX's documentation asks users to install it, and a copy of ours next to one of Windows would be loaded twice.
REDISTRIBUTABLE = ("msvcp140.dll",)
_MACHINES = {0x14C: "I386", 0x8664: "AMD64", 0xAA64: "ARM64"}  # IMAGE_FILE_MACHINE_* of <winnt.h>
_PYTHON = re.compile(r"python(3\d+t?)\.dll", re.IGNORECASE)
# What LIEF's properties raise over a damaged file.
_DAMAGE = (LookupError, RuntimeError, TypeError, ValueError)


def is_format(start: bytes) -> bool:
    """Whether a file that starts so is a PE file, or at least a program for DOS, as which each begins."""
    return start.startswith(b"MZ")


def read_library(path: Path, member: str) -> Library:
    """Read a DLL, which Python's extension modules are as well.

    Raises:
        WheelError: It is not a PE file, or is damaged.
    """
    lief.logging.disable()
    options = PE.ParserConfig()
    options.parse_reloc = options.parse_rsrc = False
    try:
        found = PE.parse(str(path), options)
        if found is not None:
            return _describe(path, member, found)
    except _DAMAGE as error:
        raise WheelError(f"{member} is a damaged PE file", cause=f"{type(error).__name__}: {error}") from error
    raise WheelError(f"{member} is not a PE file")


def _describe(path: Path, member: str, found: PE.Binary) -> Library:
    options, export = found.optional_header, found.get_export()
    needed = [*found.imports, *found.delay_imports]
    return Library(
        member=member,
        machine=_read_machine(path, found.dos_header.addressof_new_exeheader),
        binary_format=BinaryFormat.PE,
        soname=str(export.name) if export else "",
        needed=tuple(str(entry.name) for entry in needed),
        exports=tuple(sorted({str(entry.name) for entry in export.entries} - {""})) if export else (),
        floors={SYSTEM: f"{options.major_subsystem_version}.{options.minor_subsystem_version}"},
        sections=largest_first({str(section.name): section.sizeof_raw_data for section in found.sections}),
        signature="Authenticode" if found.has_signatures else "",
    )


def _read_machine(path: Path, start: int) -> str:
    """Return the machine of a file; LIEF prints a warning about one that it does not know."""
    with path.open("rb") as file:
        file.seek(start + 4)
        number = int.from_bytes(file.read(2), "little")
    return _MACHINES.get(number, f"{number:#x}")


def check_library(library: Library, machine: str, search_paths: Sequence[str] = ()) -> Iterator[Problem]:  # noqa: ARG001
    """For the right processor; a DLL has no search path."""
    yield from check_machine(library, machine)


def check_wheel(wheel: WheelContents, found: Sequence[Library], external: Collection[str]) -> Iterator[Problem]:
    """Every DLL that is needed is in the wheel or comes with Windows or Python, and with the right Python."""
    pythons = {tag.abi for tag in wheel.name.tags}
    for library in found:
        for match in filter(None, map(_PYTHON.fullmatch, library.needed)):
            if f"cp{match[1]}" not in pythons:
                yield library.member, f"needs {match[0]}, the file name says {', '.join(sorted(pythons))}"
    yield from checkers.check_dlls(wheel.path, {*REDISTRIBUTABLE, *external})
