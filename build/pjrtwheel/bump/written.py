# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Files of the repository that a new release changes: the selector's facts, and the tables of releases in the docs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.docs.generated import RELEASES, render_generated
from pjrtwheel.elf import read_image
from pjrtwheel.errors import count
from pjrtwheel.fetch import WheelCache, download_wheel, unpack_wheel
from pjrtwheel.files import write_atomically
from pjrtwheel.gpucode import needed_tools, read_gpu_code
from pjrtwheel.products.facts import (
    KnownCode,
    code_of_library,
    code_of_set,
    facts_path,
    format_facts,
    make_facts,
    read_old,
)
from pjrtwheel.record.entries import Entry
from pjrtwheel.release.model import Pin, Release
from pjrtwheel.verify.lookup import FindTool, make_finder


def write_facts(
    root: Path, cache: Path, release: Release, backends: Mapping[str, Backend], entries: Iterable[Entry]
) -> str:
    """Write the selector's facts of a release, and say from how many wheels GPU code was read.

    It comes from the records of the wheels. Of a platform that was not built here, the pinned library is read, which
    is downloaded for that.

    Raises:
        PjrtWheelError: A library cannot be downloaded or read; nothing is written then.
    """
    path = facts_path(root, release.version)
    old = read_old(path)
    known = code_of_set(backends.values(), entries, release)
    recorded = {(entry.name, platform) for entry in (old.backends if old else ()) for platform in entry.tags}
    recorded |= {(entry.backend, entry.platform) for entry in known}
    with tempfile.TemporaryDirectory(prefix="tools-") as scratch:
        find_tool = make_finder(root, {}, Path(scratch))
        for backend in backends.values():
            for platform in release.platforms(backend.name) if backend.prebuilt.bundled else ():
                if (backend.name, platform) not in recorded:
                    pin = release.pin(f"plugin.{backend.name}.{platform}")
                    known.append(_read_pinned(backend, platform, pin, cache, find_tool))
    write_atomically(path, format_facts(make_facts(backends.values(), release, known, old)))
    return f"{path.relative_to(root)}, from {count(len(known), 'wheel')}"


def _read_pinned(backend: Backend, platform: str, pin: Pin, cache: Path, find_tool: FindTool) -> KnownCode:
    """Read the GPU code of a library that the package index has."""
    wheel = WheelCache(cache, download_wheel).fetch(pin)
    with tempfile.TemporaryDirectory(prefix="library-") as scratch:
        unpack_wheel(wheel, Path(scratch), [backend.prebuilt.member])
        library = Path(scratch) / backend.prebuilt.member
        with library.open("rb") as file:
            names = needed_tools(read_image(file, wheel.name))
        tools = {name: tool for name in names if (tool := find_tool(name))}
        return code_of_library(backend.name, platform, library, read_gpu_code(library, tools, where=wheel.name).names())


def write_tables(root: Path) -> str:
    """Write those generated documents again that are there, and name them."""
    texts = render_generated(root) if (root / RELEASES).is_file() else {}
    for path, text in texts.items():
        write_atomically(root / path, text)
    return ", ".join(texts) or "there are none"
