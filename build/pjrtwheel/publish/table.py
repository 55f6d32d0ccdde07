# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The summary table at the end of a build."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Column, Table

from pjrtwheel.publish.entry import Entry

_LOG_WIDTH = 170


def describe_pythons(entry: Entry) -> str:
    """Return what each Python showed, as `3.12 13 passed; 3.14 not run: no interpreter`."""
    return "; ".join(
        f"{proof['python'][2]}.{proof['python'][3:]} {proof['summary']}" for proof in entry["proof"]["pythons"]
    )


def describe_level(entry: Entry) -> str:
    """Return the level, and what was compiled ahead of time, as `aot: 8 targets, sm_75..sm_120`."""
    level: str = entry["proof"]["level"]
    compiled = [target["code"] for target in entry["proof"].get("targets", []) if target["code"]]
    if not compiled:
        return level
    names = sorted({name for code in compiled for name in code}, key=_number)
    return f"{level}: {len(compiled)} target{'s' if len(compiled) > 1 else ''}, " + "..".join(
        dict.fromkeys((names[0], names[-1]))
    )


def _number(name: str) -> tuple[int, str]:
    """Return a sorting key: the first number in the name of some code, then all of it."""
    return int((re.findall(r"\d+", name) or ["0"])[0]), name


def mixed_locks(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Return the wheels that do not belong together with the bindings beside them, although they are of one version."""
    bindings = {entry["version"]: entry["lock_id"] for entry in entries if entry["distribution"] == "jaxlib"}
    return tuple(
        entry["filename"] for entry in entries if bindings.get(entry["version"], entry["lock_id"]) != entry["lock_id"]
    )


def make_table(entries: Sequence[Entry]) -> Table:
    """Lay out one row per wheel."""
    table = Table(
        Column("wheel", overflow="fold"), "MB", "stripped MB", "PJRT", "proof", "programs", "lock", title="dist/"
    )
    for entry in entries:
        table.add_row(
            entry["filename"],
            f"{entry['size'] / 1e6:.1f}",
            f"{entry['stripped_bytes'] / 1e6:.1f}",
            entry["pjrt_api"] or "",
            describe_level(entry),
            describe_pythons(entry),
            entry["lock_id"][:8],
        )
    return table


def render_table(entries: Sequence[Entry], console: Console | None = None) -> None:
    """Print the table, and a warning for each wheel that its neighbours would refuse."""
    # A log has no width; the names of wheels should stay whole there.
    console = console or Console(width=None if sys.stdout.isatty() else _LOG_WIDTH)
    console.print(make_table(entries))
    for name in mixed_locks(entries):
        console.print(f"warning: {name} has another lock than jaxlib beside it, which will refuse it: build it again")
