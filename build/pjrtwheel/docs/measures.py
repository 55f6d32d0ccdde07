# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is measured of wheels, upstream's and ours, and kept in `docs/wheels.json`; both side by side."""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.errors import UsageError
from pjrtwheel.files import write_atomically
from pjrtwheel.sets import BINDINGS
from pjrtwheel.tables import TableError, read_json, write_json
from pjrtwheel.verify.inspection import Inspection, inspect_wheel, make_finder
from pjrtwheel.verify.libraries import find_useless
from pjrtwheel.wheel.names import find_plain_wheels, fits, parse_name

DATA = "docs/wheels.json"
_PYTHON = "cp312"
_ARCHITECTURE = "x86_64"


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


@dataclass(frozen=True, slots=True)
class _Document:
    """What `docs/wheels.json` holds."""

    wheels: tuple[Measure, ...]
    schema: int = 1


@dataclass(frozen=True, slots=True)
class Wheels:
    """Wheels that belong together.

    Attributes:
        files: Those of all Pythons.
        own: Those of one environment.
    """

    files: tuple[Measure, ...]
    own: tuple[Measure, ...]

    @property
    def release(self) -> int:
        """Bytes of all of them."""
        return sum(row.size for row in self.files)

    @property
    def download(self) -> int:
        """Bytes that one environment downloads."""
        return sum(row.size for row in self.own)

    @property
    def installed(self) -> int:
        """Bytes that these take there."""
        return sum(row.installed_size for row in self.own)


@dataclass(frozen=True, slots=True)
class Pair:
    """Upstream's wheels for a backend, or the bindings, and ours; nothing where there are none."""

    name: str
    upstream: Wheels | None
    ours: Wheels | None


def write_measures(root: Path, paths: Iterable[Path]) -> None:
    """Measure wheels, and those of folders, without opening any plugin; raise a `UsageError` where there are none."""
    wheels = [wheel for path in paths for wheel in (find_plain_wheels(path) if path.is_dir() else [path])]
    if not wheels or not all(wheel.is_file() for wheel in wheels):
        raise UsageError("no such wheels", remedy="name folders of upstream's wheels and of ours")
    exports = {backend.library: backend.exports for backend in load_backends(root).values()}
    with tempfile.TemporaryDirectory(prefix="tools-") as scratch:
        find_tool = make_finder(root, {}, Path(scratch))
        measures = [_measure(inspect_wheel(wheel, find_tool=find_tool, exports=exports)) for wheel in wheels]
    document = _Document(tuple(sorted(measures, key=lambda row: row.wheel)))
    write_atomically(root / DATA, write_json(document, indent=1))


def read_measures(root: Path) -> tuple[Measure, ...]:
    """Return the numbers that are kept; raise a `UsageError` when there are none."""
    try:
        return read_json(_Document, (root / DATA).read_text("utf-8")).wheels
    except (FileNotFoundError, TableError) as error:
        remedy = "measure wheels: ./noxw docs measure FOLDER..."
        raise UsageError(f"cannot read {root / DATA}", cause=str(error), remedy=remedy) from error


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
        rpath_useless=sum(len(elements) for library in libraries for elements in find_useless(library).values()),
        exports=len(plugins[0].exports) if plugins else None,
        unneeded_bytes=sum(library.unneeded_bytes for library in libraries),
        license_files=len(inspection.license_files),
        sboms=len(inspection.sboms),
        locked=inspection.lock is not None,
        gpu_code=inspection.gpu_code().names(),
        findings=dict(sorted(Counter(finding.code for finding in inspection.findings).items())),
    )


def installed(measures: Iterable[Measure]) -> list[Measure]:
    """Return the wheels that an installer takes for the environment of the comparison."""
    return [row for row in measures if row.tag.endswith(_ARCHITECTURE) and _is_installed(row)]


def pair_up(measures: Iterable[Measure], backends: Iterable[Backend]) -> Iterator[Pair]:
    """Yield upstream's wheels and ours for the bindings and for each backend that has any."""
    rows = sorted((row for row in measures if row.tag.endswith(_ARCHITECTURE)), key=lambda r: (r.distribution, r.wheel))
    groups = [(BINDINGS, {BINDINGS}, BINDINGS)]
    for backend in backends:
        projects = {backend.prebuilt.project} | ({backend.kernels.project} if backend.kernels else set())
        groups.append((backend.name, projects, backend.distribution))
    for name, projects, ours in groups:
        theirs = _put_together(row for row in rows if row.distribution in projects and not row.locked)
        mine = _put_together(row for row in rows if row.distribution == ours and row.locked)
        if theirs or mine:
            yield Pair(name, theirs, mine)


def _put_together(rows: Iterable[Measure]) -> Wheels | None:
    files = tuple(rows)
    return Wheels(files, tuple(filter(_is_installed, files))) if files else None


def _is_installed(row: Measure) -> bool:
    """Return whether an installer would take this wheel for the Python of the comparison."""
    return row.tag.startswith("py3-") or fits(row.tag, _PYTHON)
