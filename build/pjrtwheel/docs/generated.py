# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is measured of wheels, and what is generated below `docs/`: the README's picture, and the table of releases.

The measures, of upstream's wheels and ours, are kept in `docs/wheels.json`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2
from packaging.utils import parse_wheel_filename

from pjrtwheel.abis import name_python, python_order
from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.errors import UsageError, count
from pjrtwheel.files import write_atomically
from pjrtwheel.release.known import list_releases, load_release
from pjrtwheel.release.model import Release
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


RELEASES = "docs/user/wheels.md"
_BEGIN = "<!-- releases: begin, written by ./noxw update -->"
_END = "<!-- releases: end -->"


def render_generated(root: Path) -> dict[str, str]:
    """Return the text of each file that has something generated in it, by its path in the repository.

    Raises:
        UsageError: The page of releases lacks the marks of its table.
    """
    backends = list(load_backends(root).values())
    page = (root / RELEASES).read_text("utf-8")
    if not 0 <= page.find(_BEGIN) < page.find(_END):
        raise UsageError(f"{RELEASES} lacks its marks {_BEGIN} and {_END}")
    before, after = page.partition(_BEGIN)[0], page.partition(_END)[2]
    releases = [load_release(root, version) for version in reversed(list_releases(root))]
    return {
        RELEASES: "\n".join([before + _BEGIN, render_releases(releases, backends), _END + after]),
        "docs/images/wheels.svg": render_picture(read_measures(root), backends),
    }


def render_releases(releases: Sequence[Release], backends: Iterable[Backend]) -> str:
    """Return a Markdown table with a column for each release and a row for `jaxlib` and each plugin wheel."""
    rows = [
        ["", *(release.version for release in releases)],
        ["---"] * (1 + len(releases)),
        ["`jaxlib`", *(_describe_bindings(release) for release in releases)],
        *([f"`{b.distribution}`", *(_describe_plugin(release, b) for release in releases)] for b in backends),
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _describe_bindings(release: Release) -> str:
    platforms: dict[str, list[str]] = {}
    for platform in sorted({key.split(".")[2] for key in release.pins if key.startswith("bindings.")}):
        platforms.setdefault(_name_pythons(release.pythons(platform)), []).append(platform)
    return "; ".join(f"{', '.join(names)}: {pythons}" for pythons, names in platforms.items())


def _describe_plugin(release: Release, backend: Backend) -> str:
    platforms = sorted(release.platforms(backend.name))
    if not platforms:
        return "absent"
    return "; ".join((", ".join(platforms), *_list_limits(release, backend, platforms)))


def _list_limits(release: Release, backend: Backend, platforms: Sequence[str]) -> Iterator[str]:
    if override := release.override(backend.name):
        yield f"with the library of {override.version}"
    if backend.kernels:
        without = {
            python
            for platform in platforms
            for python in set(release.pythons(platform)) - set(release.kernels(backend.name, platform))
        }
        if without:
            yield f"not for {_name_pythons(without)}, which lack kernels"


def _name_pythons(tags: Iterable[str]) -> str:
    """Return the versions of Pythons, free-threaded ones last.

    >>> _name_pythons({"cp314t", "cp315", "cp312"})
    '3.12, 3.15, 3.14t'
    """
    return ", ".join(map(name_python, sorted(tags, key=python_order)))


def render_picture(measures: Iterable[Measure], backends: Iterable[Backend]) -> str:
    """Return it as SVG: the bindings, and each wheel of ours that has a library; the reader's theme gives the colours.

    Upstream has no wheel for the CPU; that which we take its library from is a third party's.
    """
    known = {backend.name: backend for backend in backends}
    bundled = {BINDINGS, *(name for name, backend in known.items() if backend.prebuilt.bundled)}
    foreign = {name for name, backend in known.items() if backend.is_cpu}
    rows = [
        (() if pair.name in foreign else pair.upstream, pair.ours)
        for pair in pair_up(measures, known.values())
        if pair.ours and pair.name in bundled
    ]
    largest = max(_megabytes(side) for row in rows for side in row)
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__, "."),
        autoescape=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    templates.filters |= {"describe": _describe, "megabytes": _megabytes, "python": _name_python}
    version = parse_wheel_filename(rows[0][0][0].wheel)[1].public
    return templates.get_template("wheels.svg").render(rows=rows, version=version, largest=largest) + "\n"


def _name_python(measure: Measure) -> str:
    """Return the Python that a wheel is for, such as `3.14t`; nothing if it is for all of them."""
    if measure.tag.startswith("py3-") or "abi3" in measure.tag:
        return ""
    return name_python(measure.tag.split("-")[1])


def _describe(wheels: Sequence[Measure]) -> str:
    return f"{count(len(wheels), 'wheel')}, {_megabytes(wheels):.1f} MB"


def _megabytes(wheels: Iterable[Measure]) -> float:
    return sum(measure.size for measure in wheels) / 1e6
