# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the page of sizes shows: upstream's wheels and ours side by side, and the wheels of one release.

The figures of the comparison are those of `docs/wheels.json`, which are measured from the wheels themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.docs.measures import DATA, Measure, Pair, installed, pair_up, read_measures
from pjrtwheel.products.index.release_pages.releases import ListedRelease, Wheel
from pjrtwheel.wheel.names import parse_name

KINDS = ("download", "installed", "release")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Upstream's wheels and ours for one package.

    Attributes:
        pair: All that was measured of both.
        needs_upstream: Whether ours requires upstream's wheels instead of replacing them: its sizes have both.
        sizes: Kind of size → upstream's and ours in bytes, or nothing.
    """

    pair: Pair
    needs_upstream: bool
    sizes: Mapping[str, tuple[int | None, int | None]]


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of wheels, ours and upstream's.

    Attributes:
        comparisons: One for the bindings, and one for each backend that was measured.
        wheels: The wheels of one environment, upstream's first.
        versions: Those of our wheels.
    """

    comparisons: tuple[Comparison, ...] = ()
    wheels: tuple[Measure, ...] = ()
    versions: tuple[str, ...] = ()

    def largest(self, kind: str) -> int:
        """Return the largest size of a kind, for the longest bar."""
        return max(filter(None, (size for row in self.comparisons for size in row.sizes[kind])), default=1)


def read_measured(root: Path) -> Measured:
    """Return what `docs/wheels.json` of a repository holds; nothing where there is no such file.

    Raises:
        UsageError: The file is malformed.
    """
    if not (root / DATA).is_file():
        return Measured()
    return compare(read_measures(root), list(load_backends(root).values()))


def compare(measures: Iterable[Measure], backends: Iterable[Backend]) -> Measured:
    """Put upstream's wheels and ours side by side; the backends know upstream's projects."""
    rows, known = list(measures), list(backends)
    needing = {backend.name for backend in known if not backend.prebuilt.bundled}
    return Measured(
        tuple(_compare(pair, needs_upstream=pair.name in needing) for pair in pair_up(rows, known)),
        tuple(sorted(installed(rows), key=lambda row: row.locked)),
        tuple(sorted({parse_name(row.wheel).version for row in rows if row.locked})),
    )


def _compare(pair: Pair, *, needs_upstream: bool) -> Comparison:
    sizes: dict[str, tuple[int | None, int | None]] = {}
    for kind in KINDS:
        theirs, ours = (getattr(total, kind) if total else None for total in (pair.upstream, pair.ours))
        sizes[kind] = theirs, ours + theirs if needs_upstream and ours and theirs else ours
    return Comparison(pair, needs_upstream, sizes)


def largest_wheels(release: ListedRelease) -> list[Wheel]:
    """Return one wheel of each plugin or the bindings and system, the largest."""
    found: dict[tuple[str, str], Wheel] = {}
    for wheel in sorted(release.wheels, key=lambda wheel: wheel.entry.size):
        if wheel.is_plugin or wheel.is_bindings:
            found[wheel.project, wheel.system] = wheel
    return sorted(found.values(), key=lambda wheel: wheel.order)
