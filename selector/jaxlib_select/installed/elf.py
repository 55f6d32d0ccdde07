# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A shared library as the dynamic linker reads it: whether it can load it, what it needs, and where it looks.

The layouts are those of the System V ABI (elf.h); only 64-bit little-endian libraries are read, since PJRT plugins are
nothing else.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

ENTRY_POINT = b"GetPjrtApi"

# Names of e_machine; those of the first two are what `os.uname` says.
_MACHINES = {62: "x86_64", 183: "aarch64", 3: "32-bit x86", 40: "32-bit ARM", 21: "POWER", 22: "s390x", 243: "RISC-V"}
_KINDS = {1: "an object file, not yet linked", 2: "a program, not a library", 4: "a core dump"}  # e_type

_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NEEDED, _DT_STRTAB, _DT_STRSZ, _DT_RPATH, _DT_RUNPATH = 1, 5, 10, 15, 29
_ET_DYN = 3
_INCOMPLETE = "a library whose end is missing"
_LARGEST = 64 * 1024 * 1024  # bytes of a table; a damaged header must not make us read the whole disk


@dataclass(frozen=True)
class Library:
    """What the dynamic linker reads first.

    Attributes:
        needed: Names of the libraries it needs.
        rpath: Folders to search before `LD_LIBRARY_PATH` (DT_RPATH, ignored where there is a run path).
        runpath: Folders to search after `LD_LIBRARY_PATH` (DT_RUNPATH).
        plugin: Whether it names `GetPjrtApi`, as PJRT plugins do.
    """

    needed: tuple[str, ...] = ()
    rpath: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()
    plugin: bool = False


@dataclass(frozen=True)
class Misfit:
    """Why the dynamic linker does not load a file.

    Attributes:
        what: What the file is, such as `a text file`.
        passed_over: Whether the linker goes on to the next folder; else it gives up.
    """

    what: str
    passed_over: bool = False


def find_misfit(path: Path, arch: str) -> Misfit | None:
    """Return why the dynamic linker does not load a file; nothing if it does.

    It passes over libraries for other processors, and gives up at whatever else it cannot load (glibc, `dl-load.c`).

    Args:
        path: The file.
        arch: Processor architecture, such as `x86_64`.
    """
    try:
        with path.open("rb") as file:
            misfit = judge_header(file.read(64), arch)
            if misfit is None:
                _check_size(file)
    except OSError as error:
        return Misfit(f"unreadable ({error.strerror or error})", passed_over=True)
    except ValueError as error:
        return Misfit(str(error))
    return misfit


def judge_header(header: bytes, arch: str = "") -> Misfit | None:
    """Return why a file with these first 64 bytes is no library; nothing if it is one.

    Args:
        header: The bytes.
        arch: Processor architecture that it must be for; any if empty.
    """
    if header[:4] != b"\x7fELF":
        return Misfit("an empty file" if not header else "a text file" if _is_text(header) else "no ELF file")
    if len(header) < 64:
        return Misfit(_INCOMPLETE)
    kind, machine = struct.unpack_from("<HH" if header[5] == 1 else ">HH", header, 16)
    name = _MACHINES.get(machine, f"another processor (ELF machine {machine})")
    if header[4] != 2:
        return Misfit(f"a 32-bit library for {name.replace('32-bit ', '')}", passed_over=True)
    if header[5] != 1:
        return Misfit(f"a big-endian library for {name}")
    if arch in _MACHINES.values() and name != arch:
        return Misfit(f"a library for {name}", passed_over=True)
    return None if kind == _ET_DYN else Misfit(_KINDS.get(kind, f"an ELF file of type {kind}"))


def read_library(path: Path) -> Library:
    """Read a shared library.

    Raises:
        ValueError: It is not a 64-bit little-endian library, or its end is missing; the text says what it is.
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        return _read(file)


def _is_text(data: bytes) -> bool:
    """Return whether bytes are text, of which the last character may be incomplete."""
    return b"\0" not in data and "\N{REPLACEMENT CHARACTER}" not in data.decode("utf-8", "replace")[:-1]


def _check_size(file: BinaryIO) -> None:
    """Make sure that a file has all that its program headers speak of: the linker answers a shorter one with SIGBUS.

    Raises:
        ValueError: Its end is missing.
    """
    end = max((segment[2] + segment[5] for segment in _segments(file)), default=0)
    if file.seek(0, 2) < end:
        raise ValueError(_INCOMPLETE)


def _segments(file: BinaryIO) -> list[tuple[int, ...]]:
    """Return the program headers of a library."""
    header = _at(file, 0, 64)
    offset, size, count = struct.unpack_from("<Q", header, 32)[0], *struct.unpack_from("<HH", header, 54)
    return [struct.unpack_from("<IIQQQQQQ", _at(file, offset + index * size, 56)) for index in range(count)]


def _read(file: BinaryIO) -> Library:
    misfit = judge_header(file.read(64))
    if misfit is not None:
        raise ValueError(misfit.what)
    segments = _segments(file)
    loads = [segment for segment in segments if segment[0] == _PT_LOAD]
    dynamic = next((segment for segment in segments if segment[0] == _PT_DYNAMIC), None)
    if dynamic is None:
        return Library()
    entries = _entries(_at(file, dynamic[2], min(dynamic[5], _LARGEST)))
    strings = _strings(file, entries, loads)
    texts = {
        tag: [_text(strings, value) for value in entries.get(tag, [])] for tag in (_DT_NEEDED, _DT_RPATH, _DT_RUNPATH)
    }
    return Library(
        needed=tuple(texts[_DT_NEEDED]),
        rpath=_folders(texts[_DT_RPATH]),
        runpath=_folders(texts[_DT_RUNPATH]),
        plugin=b"\0" + ENTRY_POINT + b"\0" in b"\0" + strings,
    )


def _at(file: BinaryIO, offset: int, size: int) -> bytes:
    file.seek(offset)
    data = file.read(size)
    if len(data) < size:
        raise ValueError(_INCOMPLETE)
    return data


def _entries(table: bytes) -> dict[int, list[int]]:
    """Return the values of the dynamic section by their tags."""
    found: dict[int, list[int]] = {}
    for tag, value in struct.iter_unpack("<qQ", table[: len(table) // 16 * 16]):
        if tag == 0:
            break
        found.setdefault(tag, []).append(value)
    return found


def _strings(file: BinaryIO, entries: dict[int, list[int]], loads: list[tuple[int, ...]]) -> bytes:
    """Return the string table, whose address is one in memory."""
    address, size = entries.get(_DT_STRTAB, [0])[0], entries.get(_DT_STRSZ, [0])[0]
    for segment in loads:
        if segment[3] <= address < segment[3] + segment[5]:
            return _at(file, address - segment[3] + segment[2], min(size, _LARGEST))
    return b""


def _text(strings: bytes, offset: int) -> str:
    return strings[offset : strings.find(b"\0", offset)].decode("utf-8", "replace")


def _folders(paths: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(folder for path in paths for folder in path.split(":") if folder))
