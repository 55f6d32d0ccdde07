# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read shared libraries of Linux, macOS and Windows, which may be hostile, into one model.

Nothing here is shared with the code that repairs libraries (`elf/`): what that gets wrong must not look right.
"""

from __future__ import annotations

from pathlib import Path

from pjrtwheel.binaries import elf, macho, pe
from pjrtwheel.binaries.library import ENTRY_POINT, Library, version_key
from pjrtwheel.platforms import BinaryFormat

__all__ = ["ENTRY_POINT", "Library", "find_format", "read_library", "version_key"]

_MAGICS = {b"\x7fELF": BinaryFormat.ELF, b"MZ": BinaryFormat.PE} | {
    bytes.fromhex(text): BinaryFormat.MACH_O
    for text in ("cafebabe", "cafebabf", "cefaedfe", "cffaedfe", "feedface", "feedfacf")
}
_SUFFIXES = {".dylib": BinaryFormat.MACH_O, ".pyd": BinaryFormat.PE, ".dll": BinaryFormat.PE}
_READERS = {
    BinaryFormat.ELF: elf.read_library,
    BinaryFormat.MACH_O: macho.read_library,
    BinaryFormat.PE: pe.read_library,
}


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
    return _READERS[find_format(path, member)](path, member)
