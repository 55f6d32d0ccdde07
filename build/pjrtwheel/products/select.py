# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Build the wheel of `jaxlib-select`, and write down for it what the wheels of a release serve.

Nothing of what is written down is typed by hand. GPU code comes from the wheels' own records in `dist/release.json`, or
from a library that is read now; everything else from the `backend.toml` files. What is not there now stays as it was
recorded before, with the file it was read from.
"""

from __future__ import annotations

import tempfile
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pjrtwheel import tables
from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.errors import UsageError
from pjrtwheel.files import hash_file
from pjrtwheel.products.pure_python import build_pure_wheel, requires_python
from pjrtwheel.publish.dist import publish_pure_python
from pjrtwheel.publish.release_file import Entry
from pjrtwheel.release.model import Release
from pjrtwheel.wheel.report import BuiltWheel

SCHEMA: Literal[1] = 1


@dataclass(frozen=True, slots=True)
class Source:
    """A file that GPU code was read from: its name, and its digest."""

    file: str
    sha256: str


@dataclass(frozen=True, slots=True)
class KnownCode:
    """GPU code that was read from a wheel or a library: names of the targets, sorted as the reader gives them."""

    backend: str
    platform: str
    code: tuple[str, ...]
    source: Source


@dataclass(frozen=True, slots=True)
class BackendFacts:
    """What `jaxlib_select.facts` reads about one backend, and from which files its GPU code was read."""

    name: str
    distribution: str
    version: str
    family: str
    package: str
    tags: Mapping[str, str]
    variants: Mapping[str, tuple[str, ...]]
    code: Mapping[str, tuple[str, ...]]
    sources: Mapping[str, Source]
    select: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class ReleaseFacts:
    """The whole file."""

    release: str
    requires_python: str
    backends: tuple[BackendFacts, ...]
    schema: Literal[1]


def build_selector(root: Path, dist: Path) -> BuiltWheel:
    """Build the wheel into a folder, and list it in the `release.json` there.

    Raises:
        VerifyError: The wheel breaks a promise.
        WheelError: The build failed, or the disk is full.
    """
    with tempfile.TemporaryDirectory(prefix="select-") as scratch:
        wheel = build_pure_wheel(root / "selector", Path(scratch))
        publish_pure_python([wheel], tuple(load_backends(root).values()), root, dist)
    return BuiltWheel(dist / wheel.path.name, wheel.report)


def code_of_release(backends: Iterable[Backend], entries: Iterable[Entry], version: str) -> list[KnownCode]:
    """Take the GPU code from the entries of `dist/release.json`, as far as they are of this version."""
    listed = list(entries)
    return [
        KnownCode(backend.name, platform, tuple(entry.gpu_code), Source(entry.filename, entry.sha256))
        for backend in backends
        for platform, tag in backend.tags.items()
        for entry in listed
        if entry.distribution == backend.distribution and entry.version == version
        if any(given.endswith(f"-{tag}") for given in entry.tags)
    ]


def code_of_library(backend: str, platform: str, library: Path, code: Iterable[str]) -> KnownCode:
    """Describe the GPU code of a library that was read now."""
    return KnownCode(backend, platform, tuple(code), Source(library.name, hash_file(library)))


def make_facts(
    backends: Iterable[Backend], release: Release, known: Iterable[KnownCode], old: ReleaseFacts | None = None
) -> ReleaseFacts:
    """Put together all that is known about a release; of two codes for one place the one that is known now counts.

    Raises:
        UsageError: A backend of an accelerator with GPU code has none recorded for one of its platforms.
    """
    before = old.backends if old else ()
    by_place = {(entry.backend, entry.platform): entry for entry in [*_code_in(before), *known]}
    built = by_place.keys() | {(backend.name, platform) for backend in before for platform in backend.tags}
    listed = sorted(backends, key=lambda backend: backend.name)
    return ReleaseFacts(
        release.version,
        requires_python(listed),
        tuple(
            _backend_facts(
                backend, release.set_version, by_place, _tags(backend, release.platforms(backend.name), built)
            )
            for backend in listed
        ),
        SCHEMA,
    )


def parse_facts(text: str, path: Path) -> ReleaseFacts:
    """Read what was written before; raise a `UsageError` when it is damaged."""
    try:
        return tables.read_json(ReleaseFacts, text)
    except tables.TableError as error:
        raise UsageError(f"damaged facts: {path}", cause=str(error), remedy="remove the file") from error


def format_facts(facts: ReleaseFacts) -> str:
    """Return the text of a facts file: sorted keys and a final newline."""
    return tables.write_json(facts, indent=1)


def _code_in(backends: Iterable[BackendFacts]) -> list[KnownCode]:
    return [
        KnownCode(backend.name, platform, code, backend.sources[platform])
        for backend in backends
        for platform, code in backend.code.items()
    ]


def _tags(backend: Backend, pinned: Container[str], built: Container[tuple[str, str]]) -> dict[str, str]:
    """Return the platforms that have a wheel: the index has its library, or somebody built it from source."""
    found = backend.tags.items()
    return {platform: tag for platform, tag in found if platform in pinned or (backend.name, platform) in built}


def _backend_facts(
    backend: Backend, version: str, known: Mapping[tuple[str, str], KnownCode], tags: Mapping[str, str]
) -> BackendFacts:
    own = {platform: known[backend.name, platform] for platform in tags if (backend.name, platform) in known}
    missing = sorted(tags.keys() - own.keys())
    if own and missing and any(entry.code for entry in own.values()):
        raise UsageError(
            f"no GPU code is known for {backend.name} on {', '.join(missing)}",
            remedy=f"build it first, or give its library: --library {backend.name}:{missing[0]}=PATH",
        )
    coded = {platform: entry for platform, entry in own.items() if entry.code}
    return BackendFacts(
        name=backend.name,
        distribution=backend.distribution,
        version=version,
        family=backend.pjrt_name,
        package=backend.package,
        tags=tags,
        variants={name: tuple(extras) for name, extras in backend.jaxlib_extras.items()},
        code={platform: entry.code for platform, entry in coded.items()},
        sources={platform: entry.source for platform, entry in coded.items()},
        select=_select(backend),
    )


def _select(backend: Backend) -> dict[str, Any] | None:
    """Return the table `[select]` without what is empty."""
    if backend.select is None:
        return None
    return {key: value for key, value in tables.write(backend.select).items() if value or key == "rank"}
