# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The summary at the end of a build."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from pjrtwheel.console import open_console
from pjrtwheel.errors import count
from pjrtwheel.record.entries import Entry, mixed_locks, was_tried
from pjrtwheel.record.proofs import Outcome, Proof


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


def print_summary(entries: Sequence[Entry], dist: Path, console: Console | None = None) -> None:
    """Print what each wheel is and what it showed, and warn of those that the jaxlib of the folder would refuse.

    Lines wrap in a terminal, and stay whole in a log.
    """
    if console is None:
        console, terminal = open_console()
        console.soft_wrap = not terminal.width
    console.print(Text(f"{dist}/"))
    for entry in entries:
        console.print(Text(entry.filename, style="bold", overflow="fold"))
        for line in filter(None, (_describe_wheel(entry), describe_level(entry), describe_pythons(entry))):
            console.print(Text(f"  {line}") if console.soft_wrap else Padding(Text(line), (0, 0, 0, 2)))
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
