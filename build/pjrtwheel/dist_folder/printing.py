# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Print the wheels of a record: one line for each, and all that is known of each."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pjrtwheel.abis import name_pythons
from pjrtwheel.console import open_console
from pjrtwheel.errors import count
from pjrtwheel.files import display_path
from pjrtwheel.record.entries import Entry, mixed_locks, was_tried
from pjrtwheel.record.proofs import Outcome, Proof
from pjrtwheel.verify.printer import Row
from pjrtwheel.wheel.names import parse_name

_WIDTH = 80


def describe_pythons(entry: Entry) -> list[str]:
    """Return what each Python showed, as `3.12, 3.13: 13 programs passed` and `3.14: not run: no interpreter`."""
    alike: dict[tuple[str, str], set[str]] = {}
    ran = {(proof.backend, one.python) for proof in entry.proofs() for one in proof.pythons if one.results}
    for proof in entry.proofs():
        for python in proof.pythons:
            if python.results or (proof.backend, python.python) not in ran:
                alike.setdefault((_companion(entry, proof), python.summary), set()).add(python.python)
    return [f"{name_pythons(pythons)}{plugin}: {summary}" for (plugin, summary), pythons in alike.items()]


def describe_level(entry: Entry) -> str:
    """Return every level, each once, as `device on NVIDIA H100` or `aot (emulated): 2 targets (h100, t4)`."""
    shown: dict[str, None] = {}
    for proof in entry.proofs():
        device = f" on {proof.device}" if proof.device else ""
        shown[f"{proof.describe_level()}{_companion(entry, proof)}{device}{_describe_targets(proof)}"] = None
    return "; ".join(shown)


def describe_proofs(entry: Entry) -> Iterator[Row]:
    """Yield what was proven of a wheel, with the reason of each program that failed as expected."""
    yield "proof", [describe_level(entry)]
    yield "Pythons", describe_pythons(entry)
    failures = entry.proof.expected_failures()
    yield "expected", [f"{name} {Outcome.EXPECTED}: {reason}" for name, reason in failures.items()]


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


def print_wheels(
    entries: Sequence[Entry],
    dist: Path,
    *,
    built: Collection[str] | None = None,
    details: bool = False,
    console: Console | None = None,
) -> None:
    """Print a line for each wheel, and warn of those that the jaxlib of the folder would refuse.

    Args:
        entries: The wheels.
        dist: Their folder.
        built: File names of those that get a line; all if it is not given.
        details: Whether all is printed that is known of each, before the lines.
        console: Where to print.
    """
    terminal = None
    if console is None:
        console, terminal = open_console()
    for entry in entries if details else ():
        console.print(Text(entry.filename, style="bold", overflow="fold"))
        for line in filter(None, (_describe_wheel(entry), describe_level(entry), *describe_pythons(entry))):
            if terminal and not terminal.width:  # a log, where lines stay whole
                console.print(Text(f"  {line}"), soft_wrap=True)
            else:
                console.print(Padding(Text(line), (0, 0, 0, 2)))
    console.width = min(console.width, _WIDTH)
    shown = [entry for entry in entries if built is None or entry.filename in built]
    console.print(_make_table(shown))
    others = len(entries) - len(shown)
    more = f", with {count(others, 'wheel')} of other builds" if others else ""
    console.print(Text(f"{count(len(shown), 'wheel')} in {display_path(dist)}/{more}; details: release.json there"))
    for name in mixed_locks(entries):
        text = f"warning: {name} has another lock than jaxlib in this folder, which refuses it: build it again"
        console.print(Text(text))


def _describe_wheel(entry: Entry) -> str:
    parts = (
        f"{entry.size / 1e6:.1f} MB",
        f"{entry.stripped_bytes / 1e6:.1f} MB dropped" if entry.stripped_bytes else "",
        f"PJRT {entry.pjrt_api}" if entry.pjrt_api else "",
        f"lock {entry.lock_id[:8]}" if entry.lock_id else "",
    )
    return ", ".join(filter(None, parts))


def _make_table(entries: Iterable[Entry]) -> Table:
    """Return the lines of wheels; the name of a wheel gives way where a terminal is narrow."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("wheel", no_wrap=True, overflow="ellipsis", ratio=None)
    table.add_column("MB", justify="right", no_wrap=True, min_width=5)
    table.add_column("proof", overflow="fold", min_width=6)
    table.add_column("passed/skipped/failed", overflow="fold", min_width=7)
    for entry in entries:
        # Programs of the best proof count, and those that could not run there as skipped.
        outcomes = entry.proof.outcomes()
        passed, failed = outcomes[Outcome.PASSED], outcomes[Outcome.FAILED]
        results = f"{passed}/{outcomes.total() - passed - failed}/{failed}" if outcomes else "not run"
        where = " elsewhere" if entry.proof.origin.signed_off_by else _companion(entry, entry.proof)
        proof = f"{entry.proof.describe_level()}{where if outcomes else ''}"
        cells = (parse_name(entry.filename).short, f"{entry.size / 1e6:.1f}", proof, results)
        table.add_row(*map(Text, cells))
    return table
