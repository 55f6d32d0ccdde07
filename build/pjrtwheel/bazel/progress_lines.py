# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read the lines in which Bazel says how far it is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pjrtwheel.progress import Item, Step

_COUNTS = re.compile(r"^\[([\d,]+) / ([\d,]+)\]\s*(.*)$")
# `Assembling a; 12s linux-sandbox ... (2 actions, 1 running)`; while it waits for its turn `[Sched] Assembling a; 3s`.
_ACTION = re.compile(r"^(?:\[\w+\] )?(?P<name>.+?)(?:; (?P<seconds>\d+)s\b.*)?(?: \.\.\. \(.*\))?$")
_PHASE = re.compile(r"^(Loading|Analyzing): ?(.*)$")


@dataclass(frozen=True, slots=True)
class BazelState:
    """How far Bazel is: actions that are done, and that it knows of, and one that runs for some seconds, if any."""

    done: int
    total: int
    action: str = ""
    seconds: int = 0


def parse_progress(line: str) -> BazelState | None:
    """Return what a line of Bazel's says of its progress; None for all others.

    >>> parse_progress("[1,012 / 2,000] Assembling jaxlib; 12s linux-sandbox ... (2 actions running)")
    BazelState(done=1012, total=2000, action='Assembling jaxlib', seconds=12)
    >>> parse_progress("Analyzing: 2 targets (35 packages loaded)")
    BazelState(done=0, total=0, action='analyzing 2 targets (35 packages loaded)', seconds=0)
    >>> parse_progress("INFO: Build completed")
    """
    if match := _PHASE.match(line):
        return BazelState(0, 0, f"{match[1].lower()} {match[2]}".strip())
    if not (match := _COUNTS.match(line)):
        return None
    done, total = (int(match[number].replace(",", "")) for number in (1, 2))
    action = _ACTION.match(match[3].strip())
    name = action["name"] if action and not action["name"].startswith("checking cached") else ""
    return BazelState(done, total, name, int((action and action["seconds"]) or 0))


def report_line(line: str, step: Step) -> None:
    """Show what a line of Bazel's says, if it is about its progress."""
    if state := parse_progress(line.rstrip()):
        items = [Item(state.action, step.clock() - state.seconds)] if state.action else []
        step.report(state.done, state.total, items)
