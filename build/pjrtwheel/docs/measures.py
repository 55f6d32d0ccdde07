# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is measured of wheels, and upstream's and ours side by side in sum."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pjrtwheel.backend import Backend
from pjrtwheel.sets.projects import BINDINGS
from pjrtwheel.wheel.names import fits

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
class Total:
    """Wheels that belong together, in sum; sizes in bytes.

    Attributes:
        distributions: Their projects.
        wheels: How many wheels a release has of them.
        release: Their size, all of them.
        download: The size of those that one environment downloads.
        installed: What these take there.
        unneeded: What no loader reads of that.
        rpath_elements: Elements of all search paths.
        rpath_useless: How many of them are of no use.
        exports: Symbols that the plugin defines; nothing without one.
        license_files: How many there are.
        sboms: Whether each wheel has a bill of materials.
        locked: Whether each has the lock of a set.
    """

    distributions: tuple[str, ...]
    wheels: int
    release: int
    download: int
    installed: int
    unneeded: int
    rpath_elements: int
    rpath_useless: int
    exports: int | None
    license_files: int
    sboms: bool
    locked: bool


@dataclass(frozen=True, slots=True)
class Pair:
    """Upstream's wheels for a backend, or the bindings, and ours; nothing where there are none."""

    name: str
    upstream: Total | None
    ours: Total | None


def installed(measures: Iterable[Measure]) -> list[Measure]:
    """Return the wheels that an installer takes for the environment of the comparison."""
    return [row for row in measures if row.tag.endswith(_ARCHITECTURE) and _is_installed(row)]


def pair_up(measures: Iterable[Measure], backends: Iterable[Backend]) -> Iterator[Pair]:
    """Yield upstream's wheels and ours for the bindings and for each backend that has any."""
    rows = [row for row in measures if row.tag.endswith(_ARCHITECTURE)]
    groups = [(BINDINGS, {BINDINGS}, BINDINGS)]
    for backend in backends:
        projects = {backend.prebuilt.project} | ({backend.kernels.project} if backend.kernels else set())
        groups.append((backend.name, projects, backend.distribution))
    for name, projects, ours in groups:
        theirs = _total([row for row in rows if row.distribution in projects and not row.locked])
        mine = _total([row for row in rows if row.distribution == ours and row.locked])
        if theirs or mine:
            yield Pair(name, theirs, mine)


def _total(rows: Sequence[Measure]) -> Total | None:
    if not rows:
        return None
    own = [row for row in rows if _is_installed(row)]
    exports = [row.exports for row in own if row.exports is not None]
    return Total(
        distributions=tuple(sorted({row.distribution for row in rows})),
        wheels=len(rows),
        release=sum(row.size for row in rows),
        download=sum(row.size for row in own),
        installed=sum(row.installed_size for row in own),
        unneeded=sum(row.unneeded_bytes for row in own),
        rpath_elements=sum(row.rpath_elements for row in own),
        rpath_useless=sum(row.rpath_useless for row in own),
        exports=sum(exports) if exports else None,
        license_files=sum(row.license_files for row in own),
        sboms=all(row.sboms for row in own),
        locked=all(row.locked for row in own),
    )


def _is_installed(row: Measure) -> bool:
    """Return whether an installer would take this wheel for the Python of the comparison."""
    return row.tag.startswith("py3-") or fits(row.tag, _PYTHON)
