# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What macOS sees of a library: its load commands, as LIEF reads them, and its code signature, page by page.

No library that reads signatures compares them with the file on other systems than macOS. The layout is that of
`cs_blobs.h` in Apple's published kernel (xnu); all numbers in it are big-endian.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import lief
from lief import MachO

from pjrtwheel.binaries.library import Library, largest_first, version_key
from pjrtwheel.errors import WheelError
from pjrtwheel.platforms import BinaryFormat

SYSTEM = "macOS"
_MACHINES = {0x01000007: "x86_64", 0x0100000C: "arm64", 7: "i386"}  # CPU_TYPE_* of <mach/machine.h>
# What LIEF's properties raise over a damaged file.
_DAMAGE = (LookupError, OSError, RuntimeError, TypeError, ValueError)
_SUPER_BLOB = 0xFADE0CC0
_CODE_DIRECTORY = 0xFADE0C02
_DIRECTORY_SLOTS = {0, *range(0x1000, 0x1005)}  # the directory, and others for systems that know better hashes
_CERTIFICATE_SLOT = 0x10000
_EMPTY_BLOB = 8  # bytes of a certificate blob that holds nothing, as in an ad-hoc signature
_INDEX = struct.Struct(">II")
_BLOB = struct.Struct(">III")
_DIRECTORY = struct.Struct(">9I4B")
_LARGEST = 64 << 20
_HASHES = {1: "sha1", 2: "sha256", 3: "sha256", 4: "sha384"}


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
    kind, problem = _read_signature(path, images)
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
        signature=kind,
        signature_problem=problem,
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


def _read_signature(path: Path, images: Sequence[MachO.Binary]) -> tuple[str, str]:
    """Return the kind of the signatures, and what is wrong with the first that is not right."""
    kinds = []
    with path.open("rb") as file:
        for image in images:
            signature = image.code_signature
            if signature is None:
                return "", ""
            place = {"start": image.fat_offset, "offset": signature.data_offset, "size": signature.data_size}
            try:
                kinds.append(check_signature(file, **place))
            except SignatureError as error:
                return "damaged", str(error)
    return kinds[0], ""


class SignatureError(ValueError):
    """A signature that macOS would refuse; the text says why."""


@dataclass(frozen=True, slots=True)
class _Directory:
    """A code directory: the digests of all pages of the file up to `limit`."""

    limit: int
    page: int
    algorithm: str
    digests: tuple[bytes, ...]


def check_signature(file: BinaryIO, *, start: int, offset: int, size: int) -> str:
    """Return the kind of a signature: `ad hoc`, which needs no certificate, or `by certificate`.

    Args:
        file: The file.
        start: Where the image begins in it, beyond 0 in a fat file.
        offset: Where the signature begins in the image.
        size: Its length.

    Raises:
        SignatureError: It is malformed, does not cover the image, or a page of the image has another digest.
    """
    blobs = _read_blobs(_read_at(file, start + offset, size))
    directories = [_read_directory(data) for slot, data in blobs.items() if slot in _DIRECTORY_SLOTS]
    if not directories:
        raise SignatureError("it has no code directory")
    for directory in directories:
        if directory.limit != offset:
            raise SignatureError(f"it covers {directory.limit} bytes of {offset}")
        for number, digest in enumerate(_hash_pages(file, start, directory)):
            if digest[: len(directory.digests[number])] != directory.digests[number]:
                raise SignatureError(f"the page at {number * directory.page:#x} is not the one that was signed")
    return "by certificate" if len(blobs.get(_CERTIFICATE_SLOT, b"")) > _EMPTY_BLOB else "ad hoc"


def _read_at(file: BinaryIO, position: int, size: int) -> bytes:
    if size > _LARGEST:
        raise SignatureError(f"it has {size} bytes")
    file.seek(position)
    data = file.read(size)
    if len(data) != size:
        raise SignatureError("it ends beyond the file")
    return data


def _read_blobs(data: bytes) -> dict[int, bytes]:
    """Return the parts of a signature by their slots."""
    try:
        magic, length, count = _BLOB.unpack_from(data)
        if magic != _SUPER_BLOB or length > len(data) or count > len(data) // _INDEX.size:
            raise SignatureError("it is no embedded signature")
        index = [_INDEX.unpack_from(data, _BLOB.size + number * _INDEX.size) for number in range(count)]
        return {slot: data[at : at + _INDEX.unpack_from(data, at)[1]] for slot, at in index}
    except struct.error as error:
        raise SignatureError("it is cut short") from error


def _read_directory(data: bytes) -> _Directory:
    try:
        magic, _, _, _, hashes, _, _, count, limit, size, kind, _, page = _DIRECTORY.unpack_from(data)
    except struct.error as error:
        raise SignatureError("its code directory is cut short") from error
    if magic != _CODE_DIRECTORY or kind not in _HASHES or not 12 <= page <= 16 or not 20 <= size <= 48:
        raise SignatureError("its code directory is malformed")
    if count != -(-limit >> page) or hashes + count * size > len(data):
        raise SignatureError("its code directory is incomplete")
    digests = tuple(data[at : at + size] for at in range(hashes, hashes + count * size, size))
    return _Directory(limit, 1 << page, _HASHES[kind], digests)


def _hash_pages(file: BinaryIO, start: int, directory: _Directory) -> Iterator[bytes]:
    file.seek(start)
    for at in range(0, directory.limit, directory.page):
        page = file.read(min(directory.page, directory.limit - at))
        yield hashlib.new(directory.algorithm, page).digest()
