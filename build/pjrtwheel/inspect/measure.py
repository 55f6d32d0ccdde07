# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Reduce an inspection to the numbers that wheels are compared by, and keep them in `docs/wheels.json`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from packaging.utils import canonicalize_name

from pjrtwheel.elf import Place
from pjrtwheel.elf.searchpath import clean_search_path
from pjrtwheel.errors import UsageError
from pjrtwheel.inspect.facts import Inspection, LibraryFacts

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Measure:
    """One wheel in numbers.

    Attributes:
        wheel: File name.
        distribution: Normalized project name.
        tag: Compressed tag set of the file name.
        size: Length of the file.
        installed_size: What its members take on disk.
        libraries: How many shared objects it holds.
        rpath_elements: Elements of all search paths.
        rpath_useless: How many of them are repeated, absolute, of a build tree, or lead out of `site-packages`.
        exports: Symbols that the PJRT plugin defines; nothing without one.
        unneeded_bytes: What no loader reads.
        license_files: How many there are.
        sboms: How many bills of materials there are.
        locked: Whether it holds a release lock.
        gpu_code: The chips it holds code for.
        findings: Code of a finding → how often it was made.
    """

    wheel: str
    distribution: str
    tag: str
    size: int
    installed_size: int
    libraries: int
    rpath_elements: int
    rpath_useless: int
    exports: int | None
    unneeded_bytes: int
    license_files: int
    sboms: int
    locked: bool
    gpu_code: tuple[str, ...]
    findings: dict[str, int]


def measure(inspection: Inspection) -> Measure:
    """Reduce an inspection to its numbers."""
    libraries = inspection.libraries
    plugins = [library for library in libraries if library.is_plugin]
    return Measure(
        wheel=inspection.wheel,
        distribution=canonicalize_name(inspection.name),
        tag="-".join(inspection.wheel.removesuffix(".whl").rsplit("-", 3)[1:]),
        size=inspection.size,
        installed_size=inspection.installed_size,
        libraries=len(libraries),
        rpath_elements=sum(len(library.search_paths) for library in libraries),
        rpath_useless=sum(map(_count_useless, libraries)),
        exports=len(plugins[0].exports) if plugins else None,
        unneeded_bytes=sum(library.unneeded_bytes for library in libraries),
        license_files=len(inspection.license_files),
        sboms=len(inspection.sboms),
        locked=inspection.lock is not None,
        gpu_code=inspection.gpu_code().names(),
        findings=dict(sorted(Counter(finding.code for finding in inspection.findings).items())),
    )


def format_measures(measures: Iterable[Measure]) -> str:
    """Return the text of `docs/wheels.json`: in order of file name, with sorted keys."""
    rows = [asdict(row) for row in sorted(measures, key=lambda row: row.wheel)]
    return json.dumps({"schema": SCHEMA, "wheels": rows}, indent=1, sort_keys=True) + "\n"


def parse_measures(text: str) -> tuple[Measure, ...]:
    """Read what `format_measures` wrote.

    Raises:
        UsageError: The text is something else.
    """
    try:
        document: Mapping[str, Any] = json.loads(text)
        schema = document["schema"]
        rows = tuple(Measure(**{**row, "gpu_code": tuple(row["gpu_code"])}) for row in document["wheels"])
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError("docs/wheels.json is malformed", cause=repr(error), remedy="measure again") from error
    if schema != SCHEMA:
        raise UsageError(f"docs/wheels.json has schema {schema!r}, expected {SCHEMA}", remedy="measure again")
    return rows


def _count_useless(library: LibraryFacts) -> int:
    """Return how many elements of a search path repair would drop."""
    if not library.search_paths:
        return 0
    place = Place(depth=library.member.count("/"))
    return clean_search_path(":".join(library.search_paths), place).dropped.total()
