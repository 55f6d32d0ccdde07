# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The table at the end of a build: one line for each wheel, at most 80 columns; `release.json` has all the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pjrtwheel.console import open_console
from pjrtwheel.errors import count
from pjrtwheel.files import display_path
from pjrtwheel.record.entries import Entry, mixed_locks
from pjrtwheel.record.proofs import Outcome
from pjrtwheel.wheel.names import parse_name

_WIDTH = 80


@dataclass(frozen=True, slots=True)
class Row:
    """What the table says of a wheel: a short name, its size, the highest level of proof, and what its programs did."""

    wheel: str
    size: str
    proof: str
    results: str


def make_row(entry: Entry) -> Row:
    """Return the line of a wheel; programs of the best proof count, and those that could not run there as skipped."""
    outcomes = Counter(result.outcome for python in entry.proof.pythons for result in python.results)
    passed, failed = outcomes[Outcome.PASSED], outcomes[Outcome.FAILED]
    skipped = outcomes.total() - passed - failed
    results = f"{passed}/{skipped}/{failed}" if outcomes else "not run"
    backend = f" with {entry.proof.backend}" if entry.distribution == "jaxlib" and outcomes else ""
    return Row(
        parse_name(entry.filename).short, f"{entry.size / 1e6:.1f}", f"{entry.proof.describe_level()}{backend}", results
    )


def make_table(rows: Sequence[Row]) -> Table:
    """Return the table; the name of a wheel gives way where a terminal is narrow."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("wheel", no_wrap=True, overflow="ellipsis", ratio=None)
    table.add_column("MB", justify="right", no_wrap=True, min_width=5)
    table.add_column("proof", overflow="fold", min_width=6)
    table.add_column("passed/skipped/failed", overflow="fold", min_width=7)
    for row in rows:
        table.add_row(*(Text(cell) for cell in (row.wheel, row.size, row.proof, row.results)))
    return table


def print_overview(
    entries: Sequence[Entry], dist: Path, *, built: Collection[str] | None = None, console: Console | None = None
) -> None:
    """Print a line for each wheel that was `built`, or that is there, and warn of those that jaxlib would refuse."""
    console = console or open_console()[0]
    console.width = min(console.width, _WIDTH)
    shown = [entry for entry in entries if built is None or entry.filename in built]
    console.print(make_table([make_row(entry) for entry in shown]))
    others = len(entries) - len(shown)
    more = f", with {count(others, 'wheel')} of other builds" if others else ""
    console.print(Text(f"{count(len(shown), 'wheel')} in {display_path(dist)}/{more}; details: release.json there"))
    for name in mixed_locks(entries):
        console.print(
            Text(f"warning: {name} has another lock than jaxlib in this folder, which refuses it: build it again")
        )
