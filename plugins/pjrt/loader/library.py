# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Look at a plugin library before the dynamic linker does, which answers a truncated file with SIGBUS."""

from __future__ import annotations

import platform
import re
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from .errors import LibraryDamagedError, LibraryMissingError, Remedy

# e_machine of the ELF header (System V ABI), by `os.uname().machine`.
MACHINES = {"x86_64": 62, "aarch64": 183}

_HEADER = struct.Struct("<4sBBBB8xHHIQQQIHHHHHH")
_PROGRAM = struct.Struct("<IIQQQQQQ")
_DYNAMIC = struct.Struct("<qQ")
_ET_DYN = 3
_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NEEDED, _DT_STRTAB, _DT_STRSZ = 1, 5, 10

# Parts of glibc and GCC, which every Linux has.
_SYSTEM = re.compile(r"(lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)|ld-linux[^.]*)\.so.*")

# What damaged tables end in.
_UNREADABLE = (LookupError, OSError, StopIteration, ValueError, struct.error)


def _find_damage(header: bytes, tables: bytes, size: int, machine: str) -> str | None:
    """Say what is wrong with a 64-bit little-endian ELF library, or return None."""
    if len(header) < _HEADER.size or header[:4] != b"\x7fELF":
        return "not an ELF file"
    fields = _HEADER.unpack(header[: _HEADER.size])
    if fields[1] != 2 or fields[2] != 1:
        return "not a 64-bit little-endian ELF file"
    if machine in MACHINES and fields[6] != MACHINES[machine]:
        return f"built for another machine than {machine} (e_machine {fields[6]})"
    section_offset, section_size, section_count = fields[10], fields[15], fields[16]
    segments = _PROGRAM.iter_unpack(tables[: len(tables) // _PROGRAM.size * _PROGRAM.size])
    ends = [section_offset + section_size * section_count, *(segment[2] + segment[5] for segment in segments)]
    if max(ends) > size:
        return f"truncated: {size} bytes of at least {max(ends)}"
    return None


def _program_headers(header: bytes) -> tuple[int, int]:
    """Return the offset and the size of the table of program headers."""
    if len(header) < _HEADER.size:
        return 0, 0
    fields = _HEADER.unpack(header[: _HEADER.size])
    return fields[9], fields[13] * fields[14]


def needed_libraries(path: Path) -> list[str]:
    """Return the names of the libraries that a library needs (DT_NEEDED), in its order.

    Folders of libraries also hold linker scripts, which are text.

    Raises:
        ValueError: It is no 64-bit ELF library, or its tables do not lead to the names.
    """
    with path.open("rb") as file:
        header = file.read(_HEADER.size)
        damage = _find_damage(header, b"", path.stat().st_size, "")
        if damage is not None:
            raise ValueError(f"{path} is {damage}")
        try:
            entries, names = _read_dynamic(file, header)
            return [names[at : names.index(b"\0", at)].decode() for tag, at in entries if tag == _DT_NEEDED]
        except _UNREADABLE as error:
            raise ValueError(f"{path} has damaged tables: {error!r}") from error


def vendor_libraries(needed: Sequence[str]) -> list[str]:
    """Return what does not belong to the system.

    >>> vendor_libraries(["libsycl.so.8", "libm.so.6", "ld-linux-x86-64.so.2", "libmpi.so.12"])
    ['libsycl.so.8', 'libmpi.so.12']
    """
    return [name for name in needed if not _SYSTEM.fullmatch(name)]


def _read_dynamic(file: BinaryIO, header: bytes) -> tuple[list[tuple[int, int]], bytes]:
    """Return the entries of the dynamic table and the names they refer to; nothing of both if there is no such table.

    Raises:
        LookupError, OSError, StopIteration, ValueError, struct.error: The tables do not lead to the names.
    """
    offset, length = _program_headers(header)
    file.seek(offset)
    segments = list(_PROGRAM.iter_unpack(file.read(length)))
    dynamic = next((segment for segment in segments if segment[0] == _PT_DYNAMIC), None)
    if dynamic is None:
        return [], b""
    file.seek(dynamic[2])
    entries = list(_DYNAMIC.iter_unpack(file.read(dynamic[5])))
    values = dict(entries)
    address = values[_DT_STRTAB]
    loaded = next(part for part in segments if part[0] == _PT_LOAD and part[3] <= address < part[3] + part[5])
    file.seek(loaded[2] + address - loaded[3])
    return entries, file.read(values[_DT_STRSZ])


def find_misfit(path: Path, symbol: str = "") -> str | None:
    """Say why a file is not the library that it is named like, or return None.

    Of a function of that library, if one is known, it is enough that the file has the name.
    """
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER.size)
            damage = _find_damage(header, b"", path.stat().st_size, platform.machine())
            if damage is not None:
                return f"{path} is not a library: {damage}"
            entries, names = _read_dynamic(file, header)
    except _UNREADABLE as error:
        return f"{path} is not a library: its tables cannot be read ({error!r})"
    if _HEADER.unpack(header)[5] != _ET_DYN or not entries:
        return f"{path} is not a library: it is an ELF file of another kind"
    if symbol.encode() not in names:
        return f"{path} is not the library of that name: it has no function {symbol}"
    return None


def check_library(path: Path, machine: str, remedy: Remedy, *, name: str = "plugin library") -> None:
    """Check that a library can be opened without harm.

    Raises:
        LibraryMissingError: There is no such file.
        LibraryDamagedError: It is truncated, of another machine, or no ELF library.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            header = file.read(_HEADER.size)
            offset, length = _program_headers(header)
            file.seek(min(offset, size))
            tables = file.read(min(length, size))
    except OSError as error:
        raise LibraryMissingError(f"cannot read the {name} {path}: {error.strerror}", remedy=remedy) from error
    damage = _find_damage(header, tables, size, machine)
    if damage is None and len(tables) < length:
        damage = f"truncated: {size} bytes end within the program headers"
    if damage is not None:
        raise LibraryDamagedError(
            f"the {name} {path} is {damage}",
            cause="the download or the installation did not finish, or the wheel is for another machine",
            remedy=remedy,
        )
