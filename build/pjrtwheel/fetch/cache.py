# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The cache of downloaded wheels: `<cache>/wheels/<sha256>/<file name>`, outside of any checkout."""

import fcntl
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.errors import FetchError
from pjrtwheel.files import explain_full_disk, hash_file
from pjrtwheel.release.model import Pin

_CACHE_VARIABLE = "PJRTWHEEL_CACHE"


def cache_root(environ: Mapping[str, str] = os.environ, home: Path | None = None) -> Path:
    """Return the directory that everything downloaded is kept in.

    `PJRTWHEEL_CACHE` wins, then `XDG_CACHE_HOME` (XDG base directories), then `home`, that of the user when absent.
    """
    if environ.get(_CACHE_VARIABLE):
        return Path(environ[_CACHE_VARIABLE]).absolute()
    base = environ.get("XDG_CACHE_HOME") or (home or Path.home()) / ".cache"
    return Path(base).absolute() / "pjrtwheel"


def _check_wheel(path: Path, pin: Pin) -> None:
    """Compare a file with its pin; some indexes state no size, which is cheap to compare.

    Raises:
        FetchError: The file is shorter, longer or other than the pinned one.
    """
    size = path.stat().st_size
    if (pin.size and size != pin.size) or hash_file(path) != pin.sha256:
        raise FetchError(
            f"{pin.filename} has {size} bytes and the sha256 {hash_file(path)}, pinned are {pin.size} and {pin.sha256}",
            cause="the download was cut off or damaged, or the index serves another file of that name",
            remedy=f"try again; if it stays so, do not use that index and check the pin {pin.key!r}",
        )


@contextmanager
def file_lock(path: Path, *, waiting: str = "") -> Iterator[None]:
    """Hold an exclusive lock on a file; the system releases it even when the process is killed.

    Where another process holds it, the text `waiting` is printed, if there is one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if waiting:
                print(waiting, file=sys.stderr, flush=True)
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _move_durably(source: Path, target: Path) -> None:
    """Move a file within one file system so that the target is either absent or whole: fsync, rename."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with source.open("rb") as stream:
        os.fsync(stream.fileno())
    source.chmod(0o644)  # pip keeps the mode of its own temporary file
    source.replace(target)


@dataclass(frozen=True, slots=True)
class WheelCache:
    """Wheels on disk, found by their pin; `download` puts the pinned file into a directory and returns its path."""

    root: Path
    download: Callable[[Pin, Path], Path]

    def path(self, pin: Pin) -> Path:
        """Return the place of the wheel, whether or not it is there."""
        return self.root / "wheels" / pin.sha256 / pin.filename

    def fetch(self, pin: Pin) -> Path:
        """Return the path of the pinned wheel, downloading it unless a good copy is at hand.

        A damaged copy is thrown away. Processes that want the same wheel wait for the first one.

        Raises:
            FetchError: The wheel could not be downloaded, or is not the one that was pinned.
            WheelError: The disk is full.
        """
        target = self.path(pin)
        if self._is_good(pin):  # needs no lock, so a read-only cache works as long as it is full
            return target
        with explain_full_disk(self.root), file_lock(self.root / "locks" / pin.sha256):
            if self._is_good(pin):
                return target
            target.unlink(missing_ok=True)
            prefix = f".download-{pin.sha256}-"
            for stale in self.root.glob(f"{prefix}*"):  # of killed runs: a living one would hold the lock
                shutil.rmtree(stale, ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix=prefix, dir=self.root) as staging:
                found = self.download(pin, Path(staging))
                _check_wheel(found, pin)
                _move_durably(found, target)
        return target

    def _is_good(self, pin: Pin) -> bool:
        try:
            _check_wheel(self.path(pin), pin)
        except (FetchError, FileNotFoundError):
            return False
        return True
