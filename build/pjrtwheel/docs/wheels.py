# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Measure wheels, ours and upstream's.

The numbers are kept in `docs/wheels.json`, from which the README's picture and the release pages' sizes are made.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from pjrtwheel.backend import load_backends
from pjrtwheel.docs.measures import Measure
from pjrtwheel.errors import UsageError, fit
from pjrtwheel.files import write_atomically
from pjrtwheel.tables import TableError, read_json, write_json
from pjrtwheel.verify.inspection import Inspection, inspect_wheel
from pjrtwheel.verify.lookup import make_finder
from pjrtwheel.verify.reported import count_useless
from pjrtwheel.wheel.names import find_plain_wheels, parse_name

DATA = "docs/wheels.json"
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class _Document:
    """What `docs/wheels.json` holds."""

    wheels: tuple[Measure, ...]
    schema: int


def format_measures(measures: Iterable[Measure]) -> str:
    """Return the text of `docs/wheels.json`: in order of file name, with sorted keys."""
    document = _Document(tuple(sorted(measures, key=lambda row: row.wheel)), SCHEMA)
    return write_json(document, indent=1)


def parse_measures(text: str) -> tuple[Measure, ...]:
    """Read what `format_measures` wrote; raise a `UsageError` for anything else."""
    try:
        document = read_json(_Document, text)
    except TableError as error:
        raise UsageError("docs/wheels.json is malformed", cause=str(error), remedy="measure again") from error
    if document.schema != SCHEMA:
        raise UsageError(f"docs/wheels.json has schema {document.schema}, expected {SCHEMA}", remedy="measure again")
    return document.wheels


def _measure_wheels(root: Path, wheels: Iterable[Path]) -> tuple[Measure, ...]:
    """Inspect each wheel, without opening any plugin."""
    exports = {backend.library: backend.exports for backend in load_backends(root).values()}
    with tempfile.TemporaryDirectory(prefix="tools-") as scratch:
        find_tool = make_finder(root, {}, Path(scratch))
        return tuple(_measure(inspect_wheel(wheel, find_tool=find_tool, exports=exports)) for wheel in wheels)


def find_wheels(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the wheels that were named, and those of each folder; raise a `UsageError` for a path that is neither."""
    for path in paths:
        if path.is_dir():
            yield from find_plain_wheels(path)
        elif path.is_file():
            yield path
        else:
            raise UsageError(f"no such wheel or folder: {path}")


def read_measures(root: Path) -> tuple[Measure, ...]:
    """Return the numbers that are kept; raise a `UsageError` when there are none."""
    path = root / DATA
    if not path.is_file():
        raise UsageError(f"there is no {DATA}", remedy="measure wheels: ./noxw docs measure FOLDER...")
    return parse_measures(path.read_text("utf-8"))


def _measure(inspection: Inspection) -> Measure:
    libraries = inspection.libraries
    plugins = [library for library in libraries if library.is_plugin]
    return Measure(
        wheel=inspection.wheel,
        distribution=canonicalize_name(inspection.name),
        tag=parse_name(inspection.wheel).tag,
        size=inspection.size,
        installed_size=inspection.installed_size,
        libraries=len(libraries),
        rpath_elements=sum(len(library.search_paths) for library in libraries),
        rpath_useless=sum(count_useless(library).total() for library in libraries),
        exports=len(plugins[0].exports) if plugins else None,
        unneeded_bytes=sum(library.unneeded_bytes for library in libraries),
        license_files=len(inspection.license_files),
        sboms=len(inspection.sboms),
        locked=inspection.lock is not None,
        gpu_code=inspection.gpu_code().names(),
        findings=dict(sorted(Counter(finding.code for finding in inspection.findings).items())),
    )


def write_measures(root: Path, paths: Sequence[Path]) -> None:
    """Measure wheels, and those of folders; raise a `UsageError` where there are none."""
    wheels = list(find_wheels(paths))
    if not wheels:
        remedy = "name folders of upstream's wheels and of ours"
        raise UsageError(f"no wheels in {fit(map(str, paths)) or 'no folder'}", remedy=remedy)
    write_atomically(root / DATA, format_measures(_measure_wheels(root, wheels)))
