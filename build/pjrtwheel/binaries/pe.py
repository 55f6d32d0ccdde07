# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What Windows sees of a library."""

from __future__ import annotations

from pathlib import Path

import lief
from lief import PE

from pjrtwheel.binaries.library import Library, largest_first
from pjrtwheel.errors import WheelError
from pjrtwheel.platforms import BinaryFormat

SYSTEM = "Windows"
_MACHINES = {0x14C: "I386", 0x8664: "AMD64", 0xAA64: "ARM64"}  # IMAGE_FILE_MACHINE_* of <winnt.h>
# What LIEF's properties raise over a damaged file.
_DAMAGE = (LookupError, RuntimeError, TypeError, ValueError)


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
