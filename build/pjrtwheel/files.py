# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Hash files, and write files and folders so that they are there whole or not at all; standard library only.

A file grows next to its place under a name of its own, and takes its place by rename after it was flushed. Files that
belong together grow in a staging folder. The writer holds a lock on either, so that stale files of a killed run can be
distinguished from what is still being written. The locks are the kernel's: nothing needs cleaning after a crash.
"""

import errno
import fcntl
import glob
import hashlib
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from pjrtwheel.errors import UsageError, WheelError

# What a disk or a quota that is full gives to its writer.
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

_STAGING_PREFIX = ".partial-"
_CHUNK = 1 << 20
READABLE = 0o644  # whatever the source or the umask says: caches and folders of wheels are shared


def display_path(path: Path) -> str:
    """Return a path as people would write it: relative to where they are, or to their home, or else whole."""
    for base, prefix in ((Path.cwd(), ""), (Path.home(), "~/")):
        if path.is_absolute() and path.is_relative_to(base):
            return f"{prefix}{path.relative_to(base)}"
    return str(path)


def hash_file(path: Path) -> str:
    """Return the hexadecimal sha256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def require_folder(path: Path, remedy: str) -> None:
    """Raise a `UsageError` unless a path that a person named is that of a folder, or a `PermissionError`."""
    if not path.is_dir():
        what = f"{path} is a file, where a folder is expected" if path.exists() else f"no such folder: {path}"
        raise UsageError(what, remedy=remedy)
    with os.scandir(path):  # of a folder that cannot be read, `glob` says that it is empty
        pass


def make_folder(path: Path) -> None:
    """Make a folder to write into, and those around it, unless it is there.

    Raises:
        UsageError: A file is in its place, or in that of a folder around it.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise UsageError(
            f"cannot make the folder {path}",
            cause="a file has this name, or that of a folder around it",
            remedy="name another folder",
        ) from error


def write_atomically(path: Path, text: str) -> None:
    """Write a small text file, making the folders around it, and replace what was there."""
    with replacement(path) as file:
        file.write(text.encode())


def copy_atomically(source: Path, target: Path) -> str:
    """Copy a file, making the folders around it, and return the sha256 of what was copied."""
    digest = hashlib.sha256()
    with source.open("rb") as reader, replacement(target) as writer:
        while chunk := reader.read(_CHUNK):
            digest.update(chunk)
            writer.write(chunk)
        os.fchmod(writer.fileno(), READABLE)
    return digest.hexdigest()


def link_or_copy(source: Path, target: Path) -> None:
    """Give a file a second name, where there is none yet, without a second copy of its bytes if that is possible.

    The bytes are on the disk at the end. A link has the mode of its source, so a source with another one than a copy
    would have is copied.
    """
    if source.stat().st_mode == stat.S_IFREG | READABLE:
        try:
            os.link(source.resolve(), target)
        except OSError:  # another disk, a file system without links, or somebody else's file
            pass
        else:
            with target.open("rb") as file:
                os.fsync(file.fileno())
            return
    copy_atomically(source, target)


@contextmanager
def replacement(path: Path) -> Iterator[BinaryIO]:
    """Open a new file that takes the place of `path` at the end, unless writing it failed."""
    make_folder(path.parent)
    # Stale files of writers that were killed; a writer that lives holds a lock on its file.
    _remove_unlocked(path.parent.glob(f".{glob.escape(path.name)}.*.partial"))
    partial, file = _open_partial(path)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _open_partial(path: Path) -> tuple[Path, BinaryIO]:
    """Make a file next to `path` that is this writer's alone, and lock it as a sign of life.

    The name is drawn at random: a process may have two writers, and containers that share a disk repeat process ids.
    """
    while True:
        partial = path.with_name(f".{path.name}.{secrets.token_hex(8)}.partial")
        file = partial.open("xb")
        fcntl.flock(file, fcntl.LOCK_EX)
        if partial.exists():  # else another writer took it for stale before it was locked
            return partial, file
        file.close()


def remove_stale_folders(folder: Path) -> None:
    """Remove the staging folders of runs that no longer live, as far as they are ours to remove."""
    _remove_unlocked(folder.glob(f"{_STAGING_PREFIX}*"))


def _remove_unlocked(paths: Iterable[Path]) -> None:
    for path in paths:
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except OSError:
            continue  # its owner ended in this moment, or is another user
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        except BlockingIOError:
            pass  # its owner lives
        finally:
            os.close(descriptor)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, waiting for whoever holds it now."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def staging_folder(place: Path) -> Iterator[Path]:
    """Make a hidden folder in `place`, which is made as well, and remove it at the end; files can be renamed out of it.

    Inside it is certainly on the same file system, and needs no right to write into the folder around. Folders of dead
    runs are removed at the start.

    Raises:
        WheelError: The disk is full.
    """
    make_folder(place)
    place = place.resolve()
    with explain_full_disk(place), ExitStack() as cleanup:
        with locked(place):  # so that nobody takes a folder for abandoned that is only a moment old
            remove_stale_folders(place)
            folder = Path(tempfile.mkdtemp(prefix=_STAGING_PREFIX, dir=place))
            cleanup.callback(shutil.rmtree, folder, ignore_errors=True)
            cleanup.enter_context(locked(folder))
        yield folder


@contextmanager
def explain_full_disk(place: Path) -> Iterator[None]:
    """Turn the error of a full disk or quota into a `WheelError` that says how much is free after all cleanup."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise _no_space(place, f"{_free_space(place) / 1e6:.0f} MB are free") from error


def require_space(place: Path, needed: int) -> None:
    """Raise a `WheelError` unless so many bytes will find room in a folder that is there or will be made."""
    if needed > _free_space(place):
        raise _no_space(place, f"{needed / 1e6:.0f} MB are needed, and {_free_space(place) / 1e6:.0f} MB are free")


def _free_space(place: Path) -> int:
    nearest = next(path for path in (place, *place.resolve().parents) if path.exists())
    return shutil.disk_usage(nearest).free


def _no_space(place: Path, cause: str) -> WheelError:
    remedy = "free some space and run again; nothing partial was left behind"
    return WheelError(f"no space left on the disk of {place}", cause=cause, remedy=remedy)
