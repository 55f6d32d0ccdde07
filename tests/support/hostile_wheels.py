# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Wheels whose zip file is not the same to all programs that read it, each with one fault."""

import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

UNICODE_PATH = 0x7075
_SYMLINK, _PIPE, _FOLDER = 0o120777 << 16, 0o010644 << 16, 0o040755 << 16
_DESCRIBED, _UTF8 = 0x8, 0x800


@dataclass(frozen=True)
class Piece:
    """One member as it is written.

    Attributes:
        stream: Its bytes in the file; deflated from `data` unless given.
        record: Fields of the directory that differ from what is true, by name.
        header: Fields in front of the data that differ from the directory, by name.
        front_name: The name in front of the data, if it differs.
        behind: Bytes between the stream and the next member.
        listed: Whether the directory has it.
    """

    name: bytes
    data: bytes = b""
    stream: bytes | None = None
    record: Mapping[str, int] = field(default_factory=dict)
    header: Mapping[str, int] = field(default_factory=dict)
    front_name: bytes = b""
    record_extra: bytes = b""
    header_extra: bytes = b""
    behind: bytes = b""
    listed: bool = True


def extra(number: int, value: bytes) -> bytes:
    """Return an extra field."""
    return struct.pack("<HH", number, len(value)) + value


def second_name(name: bytes, other: bytes) -> bytes:
    """Return the extra field that gives a member another name."""
    return extra(UNICODE_PATH, struct.pack("<BL", 1, zlib.crc32(name)) + other)


def deflate(data: bytes) -> bytes:
    """Return a whole stream."""
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(data) + stream.flush()


_FIELDS = ("flags", "method", "time", "date", "crc", "compressed", "size")


def pack(pieces: Sequence[Piece], *, prefix: bytes = b"", **end: int) -> bytes:
    """Return a zip file; `end` has the fields of its last record that differ from what is true, by name."""
    data, directory, count = bytearray(prefix), b"", 0
    for piece in pieces:
        stream = deflate(piece.data) if piece.stream is None else piece.stream
        record = dict.fromkeys(("flags", "time", "disk"), 0) | {"method": 8, "date": 0x21}
        record |= {"crc": zlib.crc32(piece.data), "compressed": len(stream), "size": len(piece.data)}
        record |= {"offset": len(data), "attributes": 0o100644 << 16, **piece.record}
        said = {**record, **piece.header}
        lengths = len(piece.front_name or piece.name), len(piece.header_extra)
        data += struct.pack("<4s5H3I2H", b"PK\3\4", 20, *map(said.get, _FIELDS), *lengths)
        data += (piece.front_name or piece.name) + piece.header_extra + stream + piece.behind
        if piece.listed:
            count += 1
            lengths = len(piece.name), len(piece.record_extra)
            directory += struct.pack("<4s6H3I3H", b"PK\1\2", 0x314, 20, *map(record.get, _FIELDS), *lengths, 0)
            directory += struct.pack("<2H2I", record["disk"], 0, record["attributes"], record["offset"])
            directory += piece.name + piece.record_extra
    last = {"disk": 0, "count": count, "length": len(directory), "start": len(data)} | end
    numbers = [last[key] for key in ("disk", "disk", "count", "count", "length", "start")]
    return bytes(data + directory + struct.pack("<4s4H2IH", b"PK\5\6", *numbers, 0))


MODULE = Piece(b"demo/__init__.py", b"answer = 42\n")
OTHER = Piece(b"demo/__init__.py", b"raise SystemExit\n")


def _alone(**changes: Any) -> bytes:
    """Return a zip file with the module, changed."""
    return pack([replace(MODULE, **changes)])


def _named(*names: bytes, **record: int) -> bytes:
    """Return a zip file with the module and members of these names, which are empty."""
    return pack([MODULE, *(Piece(name, record=record) for name in names)])


def _wide_end(data: bytes, count: int) -> bytes:
    """Put a 64-bit end with another count in front of the end of a zip file."""
    end = data[-22:]
    length, start = struct.unpack_from("<2I", end, 12)
    place = len(data) - 22
    wide = struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, length, start)
    return data[:-22] + wide + struct.pack("<4sIQI", b"PK\6\7", 0, place, 1) + end


_WHOLE, _STREAM = pack([MODULE]), deflate(MODULE.data)
_HIDDEN = pack([OTHER])[: -22 - 46 - len(OTHER.name)]  # a member that no directory lists
_DIRECTORY = Piece(b"demo/", record={"attributes": _FOLDER})
_STORED = struct.pack("<3I", zlib.crc32(MODULE.data), len(MODULE.data), len(MODULE.data))
_TRUE = struct.pack("<3I", zlib.crc32(MODULE.data), len(_STREAM), len(MODULE.data))
_BOMB = zlib.compressobj(9, wbits=-15)
_ZEROS = _BOMB.compress(bytes(1 << 24)) + _BOMB.flush()
# Kind of fault → a zip file that has it.
CONTAINERS: dict[str, bytes] = {
    # What is not in the directory.
    "prefix": pack([MODULE], prefix=b"#!/bin/sh\n"),
    "prefix-not-counted": b"#!/bin/sh\n" + _WHOLE,
    "trailing-data": _WHOLE + b"\0",
    "comment-missing": _WHOLE[:-2] + b"\1\0",
    "comment": _WHOLE[:-2] + b"\1\0x",
    "two-archives": pack([OTHER]) + _WHOLE,
    "two-archives-counted": pack([MODULE], prefix=pack([OTHER])),
    "unlisted-member": pack([MODULE, Piece(b"demo/evil.py", listed=False)]),
    "unlisted-twin": pack([replace(OTHER, listed=False), MODULE]),
    "gap": pack([replace(MODULE, behind=b"\0" * 8), Piece(b"demo/b.py")]),
    "hidden-behind-data": pack([replace(MODULE, behind=_HIDDEN)]),
    "overlap": pack([MODULE, Piece(b"demo/b.py", MODULE.data, record={"offset": 0})]),
    # Headers that differ from the directory.
    "local-name": _alone(front_name=b"demo/__main__.py"),
    "local-method": _alone(header={"method": 0}),
    "local-size": _alone(header={"size": 5}),
    "local-compressed": _alone(header={"compressed": 2}),
    "local-crc": _alone(header={"crc": 1}),
    "local-flags": _alone(header={"flags": _UTF8}),
    "descriptor-differs": _alone(record={"flags": _DESCRIBED}, behind=struct.pack("<3I", 1, 2, 3)),
    "descriptor-missing": _alone(record={"flags": _DESCRIBED}),
    "described-sizes-differ": _alone(record={"flags": _DESCRIBED}, header={"size": 5}, behind=_TRUE),
    # The end, and numbers of 64 bits.
    "count-low": pack([MODULE, Piece(b"demo/b.py")], count=1),
    "count-high": pack([MODULE], count=2),
    "directory-length": pack([MODULE], length=20),
    "directory-start": pack([MODULE], start=0),
    "several-disks": pack([MODULE], disk=1),
    "other-disk": _alone(record={"disk": 1}),
    "wide-end-differs": _wide_end(pack([MODULE, Piece(b"demo/b.py")], count=1), 2),
    "wide-end-magic": _wide_end(_WHOLE, 1).replace(b"PK\6\6", b"PK\6\5"),
    "wide-front-unneeded": _alone(header_extra=extra(1, struct.pack("<2Q", 1, 2))),
    "wide-size-missing": _alone(record={"size": 0xFFFFFFFF}),
    "wide-size-unneeded": _alone(record_extra=extra(1, struct.pack("<Q", 5))),
    "extra-cut": _alone(record_extra=b"\1\0\x08\0"),
    "extra-twice": _alone(record_extra=extra(0x5455, b"") * 2),
    # Streams.
    "behind-stream": _alone(stream=_STREAM + b"\0\0"),
    "far-behind-stream": _alone(stream=_STREAM + bytes(1 << 19)),
    "two-streams": _alone(stream=_STREAM + deflate(OTHER.data)),
    "stream-kind": _alone(stream=b"\xff" + _STREAM[1:]),  # a first block of a kind that deflate does not have
    "stream-cut": _alone(stream=_STREAM[:-2]),
    "stream-longer": _alone(data=MODULE.data[:-1], stream=_STREAM),
    "stream-shorter": _alone(data=MODULE.data + b"\n", stream=_STREAM),
    "stream-crc": _alone(record={"crc": 1}),
    "stored-two-sizes": _alone(record={"method": 0}, stream=MODULE.data + b"x"),
    "bomb": pack([Piece(b"demo/%d" % number, bytes(1 << 24), _ZEROS) for number in range(7)]),
    # Kinds of members.
    "directory-data": pack([replace(_DIRECTORY, data=MODULE.data)]),
    "hidden-in-directory": pack(
        [Piece(b"demo/", stream=deflate(b"") + _HIDDEN, record={"attributes": _FOLDER}), MODULE]
    ),
    "stored-and-described": _alone(stream=MODULE.data, record={"method": 0, "flags": _DESCRIBED}, behind=_STORED),
    "symbolic-link": _alone(record={"attributes": _SYMLINK}),
    "pipe": _alone(record={"attributes": _PIPE}),
    "encrypted": _alone(record={"flags": 1}),
    "patched": _alone(record={"flags": 0x20}),
    "masked": _alone(record={"flags": 0x2000}),
    "method": _alone(record={"method": 12}),
    # Names.
    "twice": _named(MODULE.name),
    "case-twin": _named(b"demo/__INIT__.py"),
    "nfc-twin": _named("demo/é.py".encode(), "demo/e\u0301.py".encode(), flags=_UTF8),
    "file-and-directory": _named(b"demo"),
    "file-and-directory-case": _named(b"DEMO"),
    "parent": _named(b"../demo.py"),
    "parent-inside": _named(b"demo/../../demo.py"),
    "absolute": _named(b"/demo.py"),
    "drive": _named(b"C:/demo.py"),
    "backslash": _named(b"demo\\..\\..\\demo.py"),
    "null": _named(b"demo.py\0.txt"),
    "empty-part": _named(b"demo//a.py"),
    "no-name": _named(b""),
    "trailing-dot": _named(b"demo./a.py"),
    "trailing-space": _named(b"demo/a.py "),
    "device": _named(b"demo/nul.py"),
    "escape": _named(b"demo/\x1b[2J.py"),
    "not-marked-utf8": _named("demo/é.py".encode()),
    "not-utf8": _named(b"demo/\xff.py", flags=_UTF8),
    "second-name": _alone(record_extra=second_name(MODULE.name, b"../../x.py")),
    "second-name-in-front": _alone(header_extra=second_name(MODULE.name, b"../../x.py")),
}
