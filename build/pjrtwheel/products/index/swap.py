# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Put a finished folder in the place of another at once."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_EXCHANGE = 2  # RENAME_EXCHANGE of renameat2(2)
_HERE = -100  # AT_FDCWD


def replace_folder(finished: Path, place: Path) -> None:
    """Give a folder its place; what was there before lies at the finished one's old path, for the caller to remove.

    Readers see the old folder or the new one. Where the file system cannot exchange (some network ones), the place is
    empty for a moment.

    Args:
        finished: The new folder, on the same file system.
        place: Where it goes; may exist.
    """
    if not place.exists():
        finished.rename(place)
    elif not _exchange(finished, place):
        aside = finished.with_name(f"{finished.name}.old")
        place.rename(aside)
        finished.rename(place)


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two paths; tell whether this system can."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:  # glibc before 2.28
        return False
    status: int = renameat2(_HERE, os.fsencode(first), _HERE, os.fsencode(second), _EXCHANGE)
    return status == 0
