# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write down for `jaxlib-select` what the wheels of a release serve: nothing in that file is typed by hand.

GPU code comes from the wheels' own records in `dist/release.json`, or from a library that is read now; everything else
from the `backend.toml` files. What is not there now stays as it was recorded before, with the file it was read from.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pjrtwheel.backend import Backend
from pjrtwheel.errors import UsageError
from pjrtwheel.files import hash_file
from pjrtwheel.publish.release_file import Entry

SCHEMA = 1

# JSON values; the keys are read by jaxlib_select.facts.
Table = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Record:
    """GPU code that was read from a file.

    Attributes:
        backend: Name of the backend it belongs to.
        platform: Platform of the file.
        code: Names of the targets, sorted as the reader gives them.
        file: File name of wheel or library.
        sha256: Of that file.
    """

    backend: str
    platform: str
    code: tuple[str, ...]
    file: str
    sha256: str


def records_of_release(backends: Iterable[Backend], entries: Iterable[Entry], version: str) -> list[Record]:
    """Take the GPU code from the entries of `dist/release.json`, as far as they are of this release."""
    listed = list(entries)
    return [
        Record(backend.name, platform, tuple(entry.gpu_code), entry.filename, entry.sha256)
        for backend in backends
        for platform, tag in backend.tags.items()
        for entry in listed
        if entry.distribution == backend.distribution and entry.version == version
        if any(given.endswith(f"-{tag}") for given in entry.tags)
    ]


def record_of_library(backend: str, platform: str, library: Path, code: Iterable[str]) -> Record:
    """Describe the GPU code of a library that was read now."""
    return Record(backend, platform, tuple(code), library.name, hash_file(library))


def make_facts(backends: Iterable[Backend], version: str, records: Iterable[Record], old: Table) -> Table:
    """Put together all that is known about a release.

    Args:
        backends: Every backend.
        version: The JAX release.
        records: GPU code that is known now; a later record wins.
        old: What was written before, or nothing.

    Raises:
        UsageError: A backend of an accelerator with GPU code has none recorded for one of its platforms.
    """
    by_place = {(record.backend, record.platform): record for record in [*_records(old), *records]}
    built = by_place.keys() | {
        (table["name"], platform) for table in old.get("backends", []) for platform in table["tags"]
    }
    return {
        "schema": SCHEMA,
        "release": version,
        "requires_python": _requires_python(backends := list(backends)),
        "backends": [
            _backend(backend, version, by_place, _tags(backend, built))
            for backend in sorted(backends, key=lambda item: item.name)
        ],
    }


def _records(facts: Table) -> list[Record]:
    """Return what an earlier file recorded."""
    return [
        Record(backend["name"], platform, tuple(code), source["file"], source["sha256"])
        for backend in facts.get("backends", [])
        for platform, code in backend["code"].items()
        for source in [backend["sources"][platform]]
    ]


def _tags(backend: Backend, built: Container[tuple[str, str]]) -> dict[str, str]:
    """Return the platforms that have a wheel: the index has its library, or somebody built it from source."""
    prebuilt = backend.prebuilt.platforms
    found = backend.tags.items()
    return {platform: tag for platform, tag in found if platform in prebuilt or (backend.name, platform) in built}


def _backend(
    backend: Backend, version: str, records: Mapping[tuple[str, str], Record], tags: Mapping[str, str]
) -> Table:
    """Return the facts about one backend."""
    own = {platform: records[backend.name, platform] for platform in tags if (backend.name, platform) in records}
    missing = sorted(tags.keys() - own.keys())
    if own and missing and any(record.code for record in own.values()):
        raise UsageError(
            f"no GPU code is known for {backend.name} on {', '.join(missing)}",
            remedy=f"build it first, or give its library: --library {backend.name}:{missing[0]}=PATH",
        )
    coded = {platform: record for platform, record in own.items() if record.code}
    return {
        "name": backend.name,
        "distribution": backend.distribution,
        "version": version,
        "family": backend.pjrt_name,
        "package": backend.package,
        "tags": dict(tags),
        "variants": {name: list(extras) for name, extras in backend.jaxlib_extras.items()},
        "code": {platform: list(record.code) for platform, record in coded.items()},
        "sources": {platform: {"file": record.file, "sha256": record.sha256} for platform, record in coded.items()},
        "select": _select(backend),
    }


def _select(backend: Backend) -> Table | None:
    """Return the table `[select]` without what is empty."""
    if backend.select is None:
        return None
    return {key: value for key, value in dataclasses.asdict(backend.select).items() if value or key == "rank"}


def _requires_python(backends: list[Backend]) -> str:
    """Return which Pythons the wheels run on: that of the newest stable ABI among them."""
    newest = max(int(backend.python_tag.removeprefix("cp3")) for backend in backends)
    return f">=3.{newest}"


def format_facts(facts: Table) -> str:
    """Return the text of a facts file: sorted keys and a final newline."""
    return json.dumps(facts, indent=1, sort_keys=True) + "\n"
