# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What somebody who may write a cache of Bazel can do: give an action another result, whose digests are all right.

The messages are those of `build/bazel/remote/execution/v2/remote_execution.proto`: ActionResult, OutputDirectory, Tree,
Directory and FileNode.
"""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

from pjrtwheel.prove.executable import read_varint
from protocol_buffers import make_field, make_varint


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
                changed = make_field(
                    1, b"".join(make_field(1, _file(cache, *file)) for file in sorted(change(files).items()))
                )
                written = make_field(1, path.encode()) + make_field(3, _digest(cache, changed))
                action.write_bytes(make_field(3, written))
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
    return make_field(1, name.encode()) + make_varint(2 << 3) + make_varint(len(data))


def _file(cache: Path, name: str, data: bytes) -> bytes:
    return make_field(1, name.encode()) + make_field(2, _digest(cache, data)) + make_varint(4 << 3) + make_varint(1)


def _fields(data: bytes) -> list[tuple[int, bytes]]:
    """Return the fields that hold bytes, by number; numbers are passed over."""
    found, at = [], 0
    while at < len(data):
        key, at = read_varint(data, at)
        length, at = read_varint(data, at)
        if key & 7 == 2:
            found.append((key >> 3, data[at : at + length]))
            at += length
    return found


def _value(data: bytes, number: int) -> bytes:
    (value,) = [value for field, value in _fields(data) if field == number]
    return value
