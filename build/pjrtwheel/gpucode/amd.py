# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Code for AMD's chips: offload bundles, one behind the other, with an ELF file for each chip."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from pjrtwheel.elf import is_elf
from pjrtwheel.gpucode.bundle import Bundle, Entry, open_bundles
from pjrtwheel.gpucode.window import Window

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


def read_targets(window: Window) -> tuple[str, ...]:
    """Return the chips of all bundles, such as `gfx942`; of each the code of one bundle was looked at.

    Args:
        window: The section `.hip_fatbin`.

    Raises:
        ElfError: A bundle is damaged, or the code is for another chip than the bundle says.
    """
    checked: set[str] = set()
    for bundle in open_bundles(window):
        for target, entry in _code_entries(bundle, window):
            if target not in checked:
                _check(target, bundle.read(entry.offset, min(entry.size, _ELF_HEADER)), window)
                checked.add(target)
    return tuple(checked)


def _code_entries(bundle: Bundle, window: Window) -> Iterator[tuple[str, Entry]]:
    """Yield the chip of each entry, in the order of the code; there is no code for the host."""
    for entry in bundle.entries:
        match = _CODE.fullmatch(entry.name)
        if match:
            yield match[1], entry
        elif not entry.name.startswith(_HOST):
            raise window.damaged(f"a bundle holds {entry.name!r}, which names no AMD chip")


def _check(target: str, header: bytes, window: Window) -> None:
    """Compare the code's own header with what the bundle says it is."""
    if len(header) < _ELF_HEADER or not is_elf(header):
        raise window.damaged(f"the code for {target} is not an ELF file")
    (machine,) = struct.unpack_from("<H", header, 18)  # e_machine
    (flags,) = struct.unpack_from("<I", header, 48)  # e_flags
    # A number that this table does not know is a newer chip: there is nothing to compare with.
    found = _CHIPS.get(flags & _MACH_MASK, target.removeprefix("gfx"))
    if machine != _EM_AMDGPU or f"gfx{found}" != target:
        raise window.damaged(f"the code for {target} is for machine {machine}, gfx{found}")
