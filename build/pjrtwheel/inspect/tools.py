# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find a vendor's program: given by its path, or pinned by the release of this repository."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from pjrtwheel.backend import load_backends
from pjrtwheel.errors import PjrtWheelError
from pjrtwheel.fetch import WheelCache, cache_root, download_wheel, unpack_wheel
from pjrtwheel.platforms import host_platform
from pjrtwheel.release.model import load_release

# Name of a vendor's program → where it is, or nothing.
FindTool = Callable[[str], Path | None]


def make_finder(root: Path, given: Mapping[str, Path], scratch: Path) -> FindTool:
    """Return a function that finds a program by name, and fetches it at most once.

    Args:
        root: The repository; another folder when there is none at hand.
        given: Name → path, as the user gave it.
        scratch: Where a fetched program is unpacked.
    """
    found: dict[str, Path | None] = dict(given)

    def find(name: str) -> Path | None:
        if name not in found:
            found[name] = _fetch(root, name, scratch)
        return found[name]

    return find


def _fetch(root: Path, name: str, scratch: Path) -> Path | None:
    """Return the pinned program, or nothing where it is not available: a wheel is described without it."""
    tools = {key: tool for backend in load_backends(root).values() for key, tool in backend.tools.items()}
    if name not in tools:
        return None
    try:
        pin = load_release(root).pin(f"tool.{name}.{host_platform().name}")
        wheel = WheelCache(cache_root(os.environ), download_wheel).fetch(pin)
        unpack_wheel(wheel, scratch, [tools[name].member])
    except PjrtWheelError as error:
        print(f"cannot get {name}: {error}", file=sys.stderr)
        return None
    program = scratch / tools[name].member
    program.chmod(0o755)
    return program
