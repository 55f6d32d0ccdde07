# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write files aside and rename them into place, so that a killed run or a full disk never leaves half a file there.

Each writer has a folder of its own, locked for as long as the writer lives. A folder that can be locked by somebody
else belongs to a run that died, and is removed. The locks are the kernel's, so nothing needs cleaning after a crash.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pjrtwheel.errors import WheelError

PREFIX = ".partial-"


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
    place.mkdir(parents=True, exist_ok=True)
    place = place.resolve()
    with locked(place):  # so that nobody takes a folder for abandoned that is only a moment old
        remove_stale(place, PREFIX)
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield folder
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        shutil.rmtree(folder, ignore_errors=True)  # before free space is measured
        raise _no_space(place, f"{_free(place) / 1e6:.0f} MB are free") from error
    finally:
        os.close(descriptor)
        shutil.rmtree(folder, ignore_errors=True)


def require_space(place: Path, needed: int) -> None:
    """Make sure that a number of bytes will find room in a folder that is there or will be made.

    Raises:
        WheelError: They will not.
    """
    if needed > _free(place):
        raise _no_space(place, f"{needed / 1e6:.0f} MB are needed, and {_free(place) / 1e6:.0f} MB are free")


def _free(place: Path) -> int:
    """Return the bytes that are free where a folder is, or will be made."""
    return shutil.disk_usage(next(path for path in (place, *place.resolve().parents) if path.exists())).free


def _no_space(place: Path, cause: str) -> WheelError:
    remedy = "free some space and run again; nothing partial was left behind"
    return WheelError(f"no space left on the disk of {place}", cause=cause, remedy=remedy)


def remove_stale(folder: Path, prefix: str) -> None:
    """Remove the staging folders of runs that no longer live, as far as they are ours to remove."""
    for path in folder.glob(f"{glob.escape(prefix)}*"):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            continue  # its owner ended in this moment, or is another user
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
        except BlockingIOError:
            pass  # its owner lives
        finally:
            os.close(descriptor)
