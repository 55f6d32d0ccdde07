# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Check the code signature of a Mach-O file against its bytes, as macOS does page by page when it loads one.

No library that reads signatures compares them with the file on other systems than macOS. The layout is that of
`cs_blobs.h` in Apple's published kernel (xnu); all numbers are big-endian.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

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
