# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What somebody who may write a cache of Bazel can do: give an action another result, whose digests are all right.

The messages are those of `build/bazel/remote/execution/v2/remote_execution.proto`: ActionResult, OutputDirectory, Tree,
Directory and FileNode.
"""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path


def doctor_action(cache: Path, output: str, change: Callable[[dict[str, bytes]], Mapping[str, bytes]]) -> int:
    """Give every action of a disk cache that writes one directory other files, and return how many there are.

    Args:
        cache: Folder of `--disk_cache`.
        output: End of the directory's path.
        change: File name → bytes as they were → as they are to be.
    """
    found = 0
    for action in [path for path in (cache / "ac").rglob("*") if path.is_file()]:
        outputs = [value for number, value in _fields(action.read_bytes()) if number == 3]
        for directory in outputs:
            path, tree = _value(directory, 1).decode(), _value(directory, 3)
            if path.endswith(output):
                files = _read_tree(cache, _value(tree, 1).decode())
                changed = _message(
                    1, b"".join(_message(1, _file(cache, *file)) for file in sorted(change(files).items()))
                )
                written = _message(1, path.encode()) + _message(3, _digest(cache, changed))
                action.write_bytes(_message(3, written))
                found += 1
    return found


def _read_tree(cache: Path, digest: str) -> dict[str, bytes]:
    root = _value(_blob(cache, digest).read_bytes(), 1)
    nodes = [value for number, value in _fields(root) if number == 1]
    return {_value(node, 1).decode(): _blob(cache, _value(_value(node, 2), 1).decode()).read_bytes() for node in nodes}


def _blob(cache: Path, digest: str) -> Path:
    return cache / "cas" / digest[:2] / digest


def _digest(cache: Path, data: bytes) -> bytes:
    """Put a blob into the cache, and return its Digest."""
    name = hashlib.sha256(data).hexdigest()
    _blob(cache, name).parent.mkdir(exist_ok=True)
    _blob(cache, name).write_bytes(data)
    return _message(1, name.encode()) + _varint(2 << 3) + _varint(len(data))


def _file(cache: Path, name: str, data: bytes) -> bytes:
    return _message(1, name.encode()) + _message(2, _digest(cache, data)) + _varint(4 << 3) + _varint(1)


def _message(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    parts = []
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 0x80:
            return value, at


def _fields(data: bytes) -> list[tuple[int, bytes]]:
    """Return the fields that hold bytes, by number; numbers are passed over."""
    found, at = [], 0
    while at < len(data):
        key, at = _read_varint(data, at)
        length, at = _read_varint(data, at)
        if key & 7 == 2:
            found.append((key >> 3, data[at : at + length]))
            at += length
    return found


def _value(data: bytes, number: int) -> bytes:
    (value,) = [value for field, value in _fields(data) if field == number]
    return value
