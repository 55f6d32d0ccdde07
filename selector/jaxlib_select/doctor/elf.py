# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The dynamic section of a shared library: what it needs, where it looks, and whether it is a PJRT plugin.

The layouts are those of the System V ABI (elf.h); only 64-bit little-endian libraries are read, since PJRT plugins are
nothing else.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

ENTRY_POINT = b"GetPjrtApi"

_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NEEDED, _DT_STRTAB, _DT_STRSZ, _DT_RPATH, _DT_RUNPATH = 1, 5, 10, 15, 29
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


def read_library(path: Path) -> Library:
    """Read a shared library.

    Raises:
        ValueError: It is not a 64-bit little-endian ELF file, or is cut off.
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        try:
            return _read(file)
        except struct.error as error:
            raise ValueError(f"cut off: {error}") from error


def _read(file: BinaryIO) -> Library:
    header = file.read(64)
    if header[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a 64-bit little-endian ELF file")
    offset, size, count = struct.unpack_from("<Q", header, 32)[0], *struct.unpack_from("<HH", header, 54)
    segments = [struct.unpack_from("<IIQQQQQQ", _at(file, offset + index * size, 56)) for index in range(count)]
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
        raise ValueError(f"cut off: {size} bytes expected at {offset}")
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
