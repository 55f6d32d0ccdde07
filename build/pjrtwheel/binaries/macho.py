# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What macOS sees of a library: its load commands, as LIEF reads them, and whether it is signed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import lief
from lief import MachO

from pjrtwheel.binaries.library import Library, largest_first, version_key
from pjrtwheel.errors import WheelError
from pjrtwheel.platforms import BinaryFormat

SYSTEM = "macOS"
_MACHINES = {0x01000007: "x86_64", 0x0100000C: "arm64", 7: "i386"}  # CPU_TYPE_* of <mach/machine.h>
# What LIEF's properties raise over a damaged file.
_DAMAGE = (LookupError, OSError, RuntimeError, TypeError, ValueError)
# Magic of the blob of a certificate (xnu's `cs_blobs.h`), and its length where there is none in it.
_CERTIFICATE, _EMPTY = bytes.fromhex("fade0b01"), bytes.fromhex("00000008")


def read_library(path: Path, member: str) -> Library:
    """Read a dynamic library or bundle; of a fat file, the first one in it.

    Raises:
        WheelError: It is not a Mach-O file, or is damaged.
    """
    lief.logging.disable()
    options = MachO.ParserConfig()
    options.parse_dyld_bindings = options.parse_dyld_rebases = False
    try:
        images = MachO.parse(str(path), options)
        found = [images.at(number) for number in range(images.size)] if images else []
        if found and all(image and image.header.nb_cmds == len(image.commands) for image in found):
            return _describe(path, member, [image for image in found if image])
    except _DAMAGE as error:
        raise WheelError(f"{member} is a damaged Mach-O file", cause=f"{type(error).__name__}: {error}") from error
    raise WheelError(f"{member} is not a whole Mach-O file")


def _describe(path: Path, member: str, images: Sequence[MachO.Binary]) -> Library:
    first = images[0]
    own = [entry.name for entry in first.libraries if entry.command is MachO.LoadCommand.TYPE.ID_DYLIB]
    return Library(
        member=member,
        machine="+".join(_read_machine(path, image.fat_offset) for image in images),
        binary_format=BinaryFormat.MACH_O,
        soname="".join(map(str, own)),
        needed=tuple(
            str(entry.name) for entry in first.libraries if entry.command is not MachO.LoadCommand.TYPE.ID_DYLIB
        ),
        search_kind="RPATH" if first.has_rpath else "",
        search_paths=tuple(str(entry.path) for entry in first.rpaths),
        exports=_exports(first),
        floors=_floors(images),
        sections=largest_first({str(section.name): section.size for section in first.sections if section.offset}),
        signature=_read_signature(images),
    )


def _read_machine(path: Path, start: int) -> str:
    """Return the processor of an image; LIEF prints a warning about one that it does not know."""
    with path.open("rb") as file:
        file.seek(start + 4)
        number = int.from_bytes(file.read(4), "little")
    return _MACHINES.get(number, f"{number:#x}")


def _exports(image: MachO.Binary) -> tuple[str, ...]:
    """Return the names that the loader offers to others; those of C have an underscore in front, which is dropped."""
    old, new = image.dyld_info, image.dyld_exports_trie
    entries = [*(old.exports if old else ()), *(new.exports if new else ())]
    names = {str(entry.symbol.name) for entry in entries if entry.symbol}
    return tuple(sorted(name.removeprefix("_") for name in names))


def _floors(images: Sequence[MachO.Binary]) -> dict[str, str]:
    """Return the oldest macOS on which all images run; nothing where one does not say."""
    versions = [
        image.build_version.minos if image.build_version else image.version_min.version if image.version_min else []
        for image in images
    ]
    if not all(versions):
        return {}
    return {SYSTEM: max((f"{version[0]}.{version[1]}" for version in versions), key=version_key)}


def _read_signature(images: Sequence[MachO.Binary]) -> str:
    """Return the kind of the signatures: `ad hoc`, which needs no certificate; empty unless all images have one."""
    found = [bytes(image.code_signature.content) if image.code_signature else b"" for image in images]
    if not all(found):
        return ""
    _, certificate, rest = found[0].partition(_CERTIFICATE)
    return "by certificate" if certificate and not rest.startswith(_EMPTY) else "ad hoc"
