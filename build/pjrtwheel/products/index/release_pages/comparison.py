# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Upstream's wheels and ours side by side: bars of their sizes, and what inspection finds on each.

The figures are those of `docs/wheels.json`, which `./noxw docs measure` measures from the wheels themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.docs.measures import Measure, Pair, Total, installed, pair_up
from pjrtwheel.docs.wheels import DATA, read_measures
from pjrtwheel.verify.findings import CODES
from pjrtwheel.wheel.names import parse_name


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of wheels, and the backends, which know upstream's projects."""

    measures: tuple[Measure, ...] = ()
    backends: tuple[Backend, ...] = ()


def read_measured(root: Path) -> Measured:
    """Return what `docs/wheels.json` of a repository holds; nothing where there is no such file.

    Raises:
        UsageError: The file is malformed.
    """
    if not (root / DATA).is_file():
        return Measured()
    return Measured(read_measures(root), tuple(load_backends(root).values()))


@dataclass(frozen=True, slots=True)
class Bar:
    """One figure of upstream and ours, in megabytes, and their lengths in percent of the longest bar of its kind."""

    upstream: float | None
    ours: float | None
    upstream_length: float
    ours_length: float

    @property
    def change(self) -> str:
        """By how much ours is larger or smaller, such as `15.4 % larger`; empty where one is missing."""
        if not self.upstream or self.ours is None:
            return ""
        percent = round(100 * (self.ours / self.upstream - 1), 1)
        if not percent:
            return "the same"
        return f"{abs(percent):.1f} % {'larger' if percent > 0 else 'smaller'}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """All figures of one package: upstream's wheels and ours, and a bar for each kind of size.

    Attributes:
        needs_upstream: Whether ours requires upstream's wheels instead of replacing them: bars of ours have both.
    """

    name: str
    upstream: Total | None
    ours: Total | None
    needs_upstream: bool
    download: Bar
    installed: Bar
    release: Bar


_KINDS = ("download", "installed", "release")


def compare(measured: Measured) -> tuple[Comparison, ...]:
    """Return a comparison for the bindings and for each backend that was measured."""
    needing = {backend.name for backend in measured.backends if not backend.prebuilt.bundled}
    pairs = [(pair, pair.name in needing) for pair in pair_up(measured.measures, measured.backends)]
    figures = {pair.name: {key: _figures(pair, key, needs=needs) for key in _KINDS} for pair, needs in pairs}
    longest = {key: max((size for found in figures.values() for size in found[key]), default=0.0) for key in _KINDS}
    return tuple(
        Comparison(
            pair.name,
            pair.upstream,
            pair.ours,
            needs,
            *(_bar(pair, figures[pair.name][key], longest[key]) for key in _KINDS),
        )
        for pair, needs in pairs
    )


def _figures(pair: Pair, key: str, *, needs: bool) -> tuple[float, float]:
    """Return upstream's size and ours in megabytes, 0 where there is none."""
    theirs, ours = (0.0 if total is None else getattr(total, key) / 1e6 for total in (pair.upstream, pair.ours))
    return theirs, ours + theirs if needs and pair.ours else ours


def _bar(pair: Pair, figures: tuple[float, float], longest: float) -> Bar:
    theirs, ours = figures
    lengths = (round(100 * size / longest, 1) if longest else 0.0 for size in figures)
    return Bar(theirs if pair.upstream else None, ours if pair.ours else None, *lengths)


def measured_versions(measured: Measured) -> tuple[str, ...]:
    """Return the versions of our wheels that were measured."""
    return tuple(sorted({parse_name(row.wheel).version for row in measured.measures if row.locked}))


def findings(measured: Measured) -> tuple[tuple[str, ...], list[tuple[str, bool, tuple[int, ...]]]]:
    """Return the codes that were found, and for each wheel, upstream's first, how many of its files each is about."""
    rows = sorted(installed(measured.measures), key=lambda row: row.locked)
    codes = tuple(code for code in CODES if any(code in row.findings for row in rows))
    return codes, [(r.distribution, r.locked, tuple(r.findings.get(code, 0) for code in codes)) for r in rows]


def meanings(codes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield codes with what they mean."""
    yield from ((code, CODES[code]) for code in codes)


def gpu_code(measured: Measured) -> list[tuple[str, bool, tuple[str, ...]]]:
    """Return the chips that each wheel has code for."""
    return [(r.distribution, r.locked, r.gpu_code) for r in installed(measured.measures) if r.gpu_code]
