# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Files of the repository that a new release changes: the selector's facts, generated documents, the changelog."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.bump.changelog import CHANGELOG, add_entry, describe_release
from pjrtwheel.bump.model import Bump
from pjrtwheel.docs.readme import RELEASES, render_generated
from pjrtwheel.docs.schemas import render_schemas
from pjrtwheel.elf import read_image
from pjrtwheel.errors import count
from pjrtwheel.fetch import WheelCache, download_wheel, unpack_wheel
from pjrtwheel.files import write_atomically
from pjrtwheel.gpucode import needed_tools, read_gpu_code
from pjrtwheel.products.facts import (
    KnownCode,
    code_of_library,
    code_of_set,
    contents_of,
    facts_path,
    format_facts,
    make_facts,
    read_old,
)
from pjrtwheel.record.entries import Entry
from pjrtwheel.release.model import Release
from pjrtwheel.verify.lookup import FindTool, make_finder


def write_facts(bump: Bump, entries: Iterable[Entry]) -> str:
    """Write the selector's facts of a release, and say from how many wheels GPU code was read.

    It comes from the records of the wheels. Of a platform that was not built here, the pinned library is read, which
    is downloaded for that.

    Raises:
        PjrtWheelError: A library cannot be downloaded or read; nothing is written then.
    """
    release, backends = bump.release, bump.backends.values()
    path = facts_path(bump.root, release.version)
    old = read_old(path)
    contents = contents_of(release)
    known = code_of_set(backends, entries, contents)
    recorded = {(entry.name, platform) for entry in (old.backends if old else ()) for platform in entry.tags}
    recorded |= {(entry.backend, entry.platform) for entry in known}
    with tempfile.TemporaryDirectory(prefix="tools-") as scratch:
        find_tool = make_finder(bump.root, {}, Path(scratch))
        known += [
            _read_pinned(backend, platform, bump, find_tool)
            for backend, platform in _libraries(release, backends)
            if (backend.name, platform) not in recorded
        ]
    write_atomically(path, format_facts(make_facts(backends, contents, known, old)))
    return f"{path.relative_to(bump.root)}, from {count(len(known), 'wheel')}"


def write_docs(bump: Bump) -> str:
    """Write those generated documents again that are there, and name them."""
    written = []
    for path, text in _render_docs(bump.root):
        write_atomically(bump.root / path, text)
        written.append(path)
    return ", ".join(written) or "there are none"


def _render_docs(root: Path) -> Iterator[tuple[str, str]]:
    yield from ((path, text) for path, text in render_schemas().items() if (root / path).is_file())
    if (root / RELEASES).is_file():
        yield from render_generated(root).items()


def write_changelog(bump: Bump) -> str:
    """Add the line that says that there is a release."""
    path = bump.root / CHANGELOG
    write_atomically(path, add_entry(path.read_text("utf-8"), describe_release(bump.release, bump.backends)))
    return CHANGELOG


def _libraries(release: Release, backends: Iterable[Backend]) -> Iterator[tuple[Backend, str]]:
    for backend in backends:
        if backend.prebuilt.bundled:
            yield from ((backend, platform) for platform in release.platforms(backend.name))


def _read_pinned(backend: Backend, platform: str, bump: Bump, find_tool: FindTool) -> KnownCode:
    """Read the GPU code of a library that the package index has."""
    wheel = WheelCache(bump.cache, download_wheel).fetch(bump.release.pin(f"plugin.{backend.name}.{platform}"))
    with tempfile.TemporaryDirectory(prefix="library-") as scratch:
        unpack_wheel(wheel, Path(scratch), [backend.prebuilt.member])
        library = Path(scratch) / backend.prebuilt.member
        with library.open("rb") as file:
            names = needed_tools(read_image(file, wheel.name))
        tools = {name: tool for name in names if (tool := find_tool(name))}
        return code_of_library(backend.name, platform, library, read_gpu_code(library, tools, where=wheel.name).names())
