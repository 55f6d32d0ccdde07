# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The summary table at the end of a build."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from pjrtwheel.errors import count
from pjrtwheel.prove.results import Outcome, Proof
from pjrtwheel.publish.mixed_sets import mixed_locks
from pjrtwheel.publish.release_file import Entry, was_tried

_LOG_WIDTH = 170


def describe_pythons(entry: Entry) -> str:
    """Return what each Python showed, as `3.12, 3.13: 13 programs passed; 3.14: not run: no interpreter`."""
    alike: dict[tuple[str, str], list[str]] = {}
    for proof in entry.proofs():
        for python in proof.pythons:
            version = f"{python.python[2]}.{python.python[3:]}"
            alike.setdefault((_companion(entry, proof), python.summary), []).append(version)
    return "; ".join(f"{', '.join(versions)}{plugin}: {summary}" for (plugin, summary), versions in alike.items())


def describe_level(entry: Entry) -> str:
    """Return every level, and what was compiled for ahead of time, as `aot (emulated): 2 targets (h100, t4)`."""
    return "; ".join(
        f"{proof.describe_level()}{_companion(entry, proof)}{_describe_targets(proof)}" for proof in entry.proofs()
    )


def _companion(entry: Entry, proof: Proof) -> str:
    """Name the plugin that bindings were proven with, if anything was tried; a plugin's own wheel says it by itself."""
    named = entry.distribution == "jaxlib" and proof.backend and was_tried(proof)
    return f" with {proof.backend}" if named else ""


def _describe_targets(proof: Proof) -> str:
    """Name the chips that gave code, and apart from them those that could not be compiled for, as expected."""
    parts = [
        f"{count(len(names), 'target')}{outcome} ({', '.join(names)})"
        for outcome, has_code in (("", True), (f" {Outcome.EXPECTED}", False))
        if (names := [target.name for target in proof.targets if bool(target.code) is has_code])
    ]
    return f": {', '.join(parts)}" if parts else ""


def make_table(entries: Sequence[Entry], dist: Path, *, whole_names: bool = False) -> Table:
    """Lay out one row per wheel, under their folder; names may stay whole, however narrow that makes other columns."""
    width = max((len(entry.filename) for entry in entries), default=0) if whole_names else None
    table = Table(
        Column("wheel", overflow="fold", min_width=width),
        "MB",
        "stripped MB",
        "PJRT",
        "proof",
        "programs",
        "lock",
        title=escape(f"{dist}/"),
    )
    for entry in entries:
        table.add_row(
            entry.filename,
            f"{entry.size / 1e6:.1f}",
            f"{entry.stripped_bytes / 1e6:.1f}",
            entry.pjrt_api or "",
            describe_level(entry),
            describe_pythons(entry),
            entry.lock_id[:8],
        )
    return table


def render_table(entries: Sequence[Entry], dist: Path, console: Console | None = None) -> None:
    """Print the table, and a warning for each wheel that the jaxlib of the folder would refuse."""
    # A log has no width; the names of wheels should stay whole there.
    log = not sys.stdout.isatty()
    console = console or Console(width=_LOG_WIDTH if log else None)
    console.print(make_table(entries, dist, whole_names=log))
    for name in mixed_locks(entries):
        console.print(f"warning: {name} has another lock than jaxlib in this folder, which refuses it: build it again")
