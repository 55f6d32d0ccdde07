# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Downloads of pinned wheels as they grow, of whichever process: the cache has a folder for each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.fetch.cache import STAGING
from pjrtwheel.release.model import Pin


@dataclass(frozen=True, slots=True)
class Download:
    """A download that runs: the name of the file, how many bytes are here, and how many there will be."""

    filename: str
    received: int
    size: int


def find_downloads(cache: Path, pins: Iterable[Pin]) -> tuple[Download, ...]:
    """Return which of some pinned wheels are being downloaded now, by whichever process uses the cache."""
    known = {pin.sha256: pin for pin in pins}
    folders = {path.name.removeprefix(STAGING).partition("-")[0]: path for path in cache.glob(f"{STAGING}*")}
    return tuple(
        Download(known[digest].filename, min(sum(_sizes(folder)), known[digest].size), known[digest].size)
        for digest, folder in sorted(folders.items())
        if digest in known
    )


def _sizes(folder: Path) -> Iterator[int]:
    """Yield the sizes of the files in a folder, which go away at any moment."""
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                yield (Path(place) / name).stat().st_size
            except OSError:
                continue
