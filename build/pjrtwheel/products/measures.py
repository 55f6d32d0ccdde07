# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is measured of wheels, upstream's and ours: kept in `docs/wheels.json`, compared on the page about sizes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.errors import UsageError
from pjrtwheel.files import write_atomically
from pjrtwheel.release.wheels import LOCK_FILENAME
from pjrtwheel.sets import BINDINGS
from pjrtwheel.tables import TableError, read_json, write_json
from pjrtwheel.wheel.members import open_wheel
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
        locked: Whether it holds a release lock, as ours do.
    """

    wheel: str
    distribution: str
    tag: str
    size: int
    installed_size: int
    locked: bool


@dataclass(frozen=True, slots=True)
class _Document:
    """What `docs/wheels.json` holds."""

    wheels: tuple[Measure, ...]
    schema: int = 1


@dataclass(frozen=True, slots=True)
class Pair:
    """Upstream's wheels for a backend, or the bindings, and ours, for all Pythons; nothing where there are none.

    Attributes:
        name: Name of the backend, or of the bindings.
        upstream: Upstream's.
        ours: Ours.
        needs_upstream: Whether ours require upstream's instead of replacing them: their sizes have both.
    """

    name: str
    upstream: tuple[Measure, ...]
    ours: tuple[Measure, ...]
    needs_upstream: bool = False

    @property
    def sizes(self) -> dict[str, tuple[int | None, int | None]]:
        """Kind of size → upstream's and ours in bytes: what one environment downloads and keeps, and all files."""
        theirs, ours = _sum_up(self.upstream), _sum_up(self.ours)
        if self.needs_upstream:
            ours = {kind: size + theirs.get(kind, 0) for kind, size in ours.items()}
        return {kind: (theirs.get(kind), ours.get(kind)) for kind in ("download", "installed", "release")}


def _sum_up(rows: tuple[Measure, ...]) -> dict[str, int]:
    """Return the sizes of wheels by their kind; nothing where there are no wheels."""
    own = [row for row in rows if _is_installed(row)]
    sums = {"download": sum(row.size for row in own), "installed": sum(row.installed_size for row in own)}
    return {**sums, "release": sum(row.size for row in rows)} if rows else {}


def write_measures(root: Path, paths: Iterable[Path]) -> None:
    """Measure wheels, and those of folders; raise a `UsageError` where there are none."""
    wheels = [wheel for path in paths for wheel in (find_plain_wheels(path) if path.is_dir() else [path])]
    if not wheels or not all(wheel.is_file() for wheel in wheels):
        raise UsageError("no such wheels", remedy="name folders of upstream's wheels and of ours")
    document = _Document(tuple(sorted(map(_measure, wheels), key=lambda row: row.wheel)))
    write_atomically(root / DATA, write_json(document, indent=1))


def read_measures(root: Path) -> tuple[Measure, ...]:
    """Return the numbers that are kept; raise a `UsageError` when there are none."""
    try:
        return read_json(_Document, (root / DATA).read_text("utf-8")).wheels
    except (FileNotFoundError, TableError) as error:
        remedy = "measure wheels: ./noxw docs measure FOLDER..."
        raise UsageError(f"cannot read {root / DATA}", cause=str(error), remedy=remedy) from error


def _measure(wheel: Path) -> Measure:
    name = parse_name(wheel.name)
    with open_wheel(wheel) as archive:
        members = archive.infolist()
    return Measure(
        wheel=wheel.name,
        distribution=name.distribution,
        tag=name.tag,
        size=wheel.stat().st_size,
        installed_size=sum(member.file_size for member in members),
        locked=any(member.filename.endswith(f"/{LOCK_FILENAME}") for member in members),
    )


def pair_up(measures: Iterable[Measure], backends: Iterable[Backend]) -> Iterator[Pair]:
    """Yield upstream's wheels and ours for the bindings and for each backend that has any."""
    rows = sorted((row for row in measures if row.tag.endswith(_ARCHITECTURE)), key=lambda r: (r.distribution, r.wheel))
    groups = [(BINDINGS, {BINDINGS}, {BINDINGS}, False)]
    for backend in backends:
        projects = {backend.prebuilt.project} | ({backend.kernels.project} if backend.kernels else set())
        groups.append((backend.name, projects, set(backend.distributions), not backend.prebuilt.bundled))
    for name, projects, ours, needs_upstream in groups:
        theirs = tuple(row for row in rows if row.distribution in projects and not row.locked)
        mine = tuple(row for row in rows if row.distribution in ours and row.locked)
        if theirs or mine:
            yield Pair(name, theirs, mine, needs_upstream)


def _is_installed(row: Measure) -> bool:
    """Return whether an installer would take this wheel for the Python of the comparison."""
    return row.tag.startswith("py3-") or fits(row.tag, _PYTHON)
