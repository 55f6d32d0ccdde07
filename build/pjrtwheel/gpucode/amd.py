# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Code for AMD's chips: offload bundles, one after the other, with an ELF file for each chip.

The bundles are those of clang-offload-bundler, plain or compressed (Clang documentation, "Clang Offload Bundler").
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pjrtwheel.elf import is_elf
from pjrtwheel.gpucode.streams import InflatedBytes, Window, open_compressed

# Kind, triple with an empty environment, then the chip and what it must have switched on or off.
_CODE = re.compile(r"(?:hip|hipv4)-amdgcn-amd-amdhsa-[^-]*-(gfx[0-9a-z-]+?)(?::[a-z+:-]+)?")
_HOST = "host-"
_ELF_HEADER = 64
_EM_AMDGPU = 224
_MACH_MASK = 0xFF

# EF_AMDGPU_MACH of e_flags, as in the AMDGPU usage manual of LLVM. 0 is no chip.
_CHIPS = {
    0x20: "600", 0x21: "601", 0x22: "700", 0x23: "701", 0x24: "702", 0x25: "703", 0x26: "704", 0x28: "801",
    0x29: "802", 0x2A: "803", 0x2B: "810", 0x2C: "900", 0x2D: "902", 0x2E: "904", 0x2F: "906", 0x30: "908",
    0x31: "909", 0x32: "90c", 0x33: "1010", 0x34: "1011", 0x35: "1012", 0x36: "1030", 0x37: "1031", 0x38: "1032",
    0x39: "1033", 0x3A: "602", 0x3B: "705", 0x3C: "805", 0x3D: "1035", 0x3E: "1034", 0x3F: "90a", 0x40: "940",
    0x41: "1100", 0x42: "1013", 0x43: "1150", 0x44: "1103", 0x45: "1036", 0x46: "1101", 0x47: "1102", 0x48: "1200",
    0x49: "1250", 0x4A: "1151", 0x4B: "941", 0x4C: "942", 0x4E: "1201", 0x4F: "950", 0x51: "9-generic",
    0x52: "10-1-generic", 0x53: "10-3-generic", 0x54: "11-generic", 0x55: "1152", 0x58: "1153", 0x59: "12-generic",
    0x5A: "1251", 0x5F: "9-4-generic",
}  # fmt: skip

_PLAIN = b"__CLANG_OFFLOAD_BUNDLE__"
_COMPRESSED = b"CCOB"
_ALIGNMENT = 4096  # the runtime maps bundles, so each begins a page
_COUNT_AT = len(_PLAIN)
_MOST_ENTRIES = 1024  # there are some 60 chips
_LONGEST_NAME = 256

# Version → what follows magic and version in a compressed bundle: method, sizes of file and content, hash of the
# content. The first version does not say how long it is, so nothing behind it can be found; LLVM 18 wrote the last.
_HEADERS = {2: struct.Struct("<HIIQ"), 3: struct.Struct("<HQQQ")}
_HEADER_AT = 6

# The bytes of a bundle, read forwards.
_Content = Window | InflatedBytes


@dataclass(frozen=True, slots=True)
class _Entry:
    """One part of a bundle: the code for one target."""

    name: str
    offset: int
    size: int


def read_targets(window: Window) -> tuple[str, ...]:
    """Return the chips of all bundles of `.hip_fatbin`, such as `gfx942`; of each the code of one bundle was looked at.

    Raises:
        ElfError: A bundle is damaged, or the code is for another chip than the bundle says.
    """
    checked: set[str] = set()
    for entries, content in _open_bundles(window):
        for target, entry in _code_entries(entries, window):
            if target not in checked:
                _check(target, content.read(entry.offset, min(entry.size, _ELF_HEADER)), window)
                checked.add(target)
    return tuple(checked)


def _code_entries(entries: Iterable[_Entry], window: Window) -> Iterator[tuple[str, _Entry]]:
    """Yield the chip of each entry, in the order of the code; there is no code for the host."""
    for entry in entries:
        match = _CODE.fullmatch(entry.name)
        if match:
            yield match[1], entry
        elif not entry.name.startswith(_HOST):
            raise window.damaged(f"a bundle holds {entry.name!r}, which names no AMD chip")


def _check(target: str, header: bytes, window: Window) -> None:
    if len(header) < _ELF_HEADER or not is_elf(header):
        raise window.damaged(f"the code for {target} is not an ELF file")
    (machine,) = struct.unpack_from("<H", header, 18)  # e_machine
    (flags,) = struct.unpack_from("<I", header, 48)  # e_flags
    # A number that this table does not know is a newer chip: there is nothing to compare with.
    found = _CHIPS.get(flags & _MACH_MASK, target.removeprefix("gfx"))
    if machine != _EM_AMDGPU or f"gfx{found}" != target:
        raise window.damaged(f"the code for {target} is for machine {machine}, gfx{found}")


def _open_bundles(window: Window) -> Iterator[tuple[tuple[_Entry, ...], _Content]]:
    """Yield the entries and the content of each bundle; it must be read before the next one is asked for."""
    position = 0
    while position < window.size:
        content, length = _open(window, position)
        entries = _read_entries(content, window)
        yield entries, content
        length = length or max((entry.offset + entry.size for entry in entries), default=_COUNT_AT)
        position = -(-(position + length) // _ALIGNMENT) * _ALIGNMENT


def _open(window: Window, position: int) -> tuple[_Content, int]:
    """Return the bytes of the bundle at a position, and its length if it is known by now."""
    start = window.read(position, min(_COUNT_AT, window.size - position))
    rest = window.narrow(position, window.size - position)
    if start == _PLAIN:
        return rest, 0
    if not start.startswith(_COMPRESSED):
        raise window.damaged(f"there is no offload bundle at {position:#x}, but {start[:8]!r}")
    (version,) = struct.unpack("<H", rest.read(len(_COMPRESSED), 2))
    header = _HEADERS.get(version)
    if header is None:
        raise window.damaged(f"the compressed bundle at {position:#x} has format {version}, known are 2 and 3")
    method, size, content, _ = header.unpack(rest.read(_HEADER_AT, header.size))
    begin = _HEADER_AT + header.size
    if not begin < size <= rest.size:
        raise window.damaged(f"the bundle at {position:#x} claims {size} bytes, {rest.size} are left")
    return open_compressed(rest.narrow(begin, size - begin), method, content), size


def _read_entries(content: _Content, window: Window) -> tuple[_Entry, ...]:
    if content.read(0, _COUNT_AT) != _PLAIN:
        raise window.damaged("a compressed bundle holds no bundle")
    (count,) = struct.unpack("<Q", content.read(_COUNT_AT, 8))
    if not 0 < count <= _MOST_ENTRIES:
        raise window.damaged(f"a bundle claims {count} entries")
    position, entries = _COUNT_AT + 8, []
    for _ in range(count):
        offset, size, length = struct.unpack("<QQQ", content.read(position, 24))
        if length > _LONGEST_NAME or offset + size > content.size:
            raise window.damaged(f"an entry of a bundle claims a name of {length} and code of {size} bytes at {offset}")
        name = content.read(position + 24, length).decode("utf-8", "replace")
        entries.append(_Entry(name, offset, size))
        position += 24 + length
    return tuple(sorted(entries, key=lambda entry: entry.offset))
