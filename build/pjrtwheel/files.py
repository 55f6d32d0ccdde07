# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Hash files, and write them so that they are there whole or not at all; standard library only.

A file grows beside its place under a name of its own and takes its place by rename, after it was flushed. Its writer
holds a lock on it, so what a killed run left behind can be told from what is still being written.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import glob
import hashlib
import os
import secrets
from pathlib import Path
from typing import BinaryIO

# What a disk or a quota that is full gives to its writer.
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

_CHUNK = 1 << 20
_READABLE = 0o644  # whatever the source or the umask says: caches and folders of wheels are shared


def hash_file(path: Path) -> str:
    """Return the hexadecimal sha256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_atomically(path: Path, text: str) -> None:
    """Write a small text file, making the folders around it, and replace what was there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_stale(path)
    partial, file = open_partial(path)
    try:
        with file:
            write_all(file, text.encode())
            os.fsync(file.fileno())
            partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def copy_atomically(source: Path, target: Path) -> str:
    """Copy a file, making the folders around it, and return the sha256 of what was copied."""
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    partial, writer = open_partial(target)
    try:
        with source.open("rb") as reader, writer:
            while chunk := reader.read(_CHUNK):
                digest.update(chunk)
                write_all(writer, chunk)
            os.fchmod(writer.fileno(), _READABLE)
            os.fsync(writer.fileno())
            partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return digest.hexdigest()


def write_all(file: BinaryIO, data: bytes) -> None:
    """Write all of the data, which an unbuffered file does not promise to do at once."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def open_partial(path: Path) -> tuple[Path, BinaryIO]:
    """Make a file beside `path` that is this writer's alone, and lock it as a sign of life for `remove_stale`.

    The name is drawn at random: a process may have two writers, and containers that share a disk repeat process ids.
    """
    while True:
        partial = path.with_name(f".{path.name}.{secrets.token_hex(8)}.partial")
        file = partial.open("xb", buffering=0)
        fcntl.flock(file, fcntl.LOCK_EX)
        if partial.exists():  # else another writer took it for stale before it was locked
            return partial, file
        file.close()


def remove_stale(path: Path) -> None:
    """Remove what writers of `path` left behind when they were killed; a writer that lives holds a lock on its file."""
    for partial in path.parent.glob(f".{glob.escape(path.name)}.*.partial"):
        with contextlib.suppress(FileNotFoundError, BlockingIOError), partial.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            partial.unlink()
