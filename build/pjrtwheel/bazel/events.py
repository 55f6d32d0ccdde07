# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read what Bazel says: how far it is, what it made and ran, and the one message a user needs of a failure.

The build event file has one JSON object per line, in the form of `build_event_stream.proto`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pjrtwheel.errors import BazelError, PjrtWheelError
from pjrtwheel.fetch.settings import local_path
from pjrtwheel.progress import Step

_BOOKKEEPING = "BazelWorkspaceStatusAction"  # Bazel's own, run in every build
# The form of `program.run_main` inside of the graph, and of `format_error` in build/rules/private/host_python.bzl.
_MARKED = re.compile(r"pjrtwheel error (\d+)\n(.*?)\nend of error", re.DOTALL)
_NOISE = re.compile(
    r"src/main/tools/linux-sandbox|^Loading:|^Analyzing:|^\[\d|^INFO:|^WARNING:|^FAILED: Build|^\s*$|^OpenJDK"
)
_SHOWN = 20  # lines of a failure that nobody foresaw
# Of a repository rule, such as one that finds no such commit, or to which a patch does not apply.
_RULE_FAILED = re.compile(r"^Error in (?:fail|patch): (.*(?:\n(?!ERROR|\*\*).+)?)", re.MULTILINE)
_DISK_FULL = "No space left on device"
_COUNTS = re.compile(r"\[([\d,]+) / ([\d,]+)\]\s*(.*)")
_PHASE = re.compile(r"(Loading|Analyzing): .*")


class Action(NamedTuple):
    """An action that ran; an action whose result was known already has no event.

    Its mnemonic is its kind, such as `CompileExtension`.
    """

    mnemonic: str
    label: str


@dataclass(frozen=True, slots=True)
class BuildLog:
    """What happened in one Bazel invocation: output files by label, actions that ran, and everything Bazel printed."""

    outputs: dict[str, tuple[Path, ...]]
    actions: tuple[Action, ...]
    text: str


def _expand(sets: dict[str, dict[str, Any]], references: Iterable[dict[str, Any]]) -> Iterator[Path]:
    for reference in references:
        found = sets.get(reference["id"], {})
        for file in found.get("files", []):
            if path := local_path(file.get("uri", "")):
                yield path
        yield from _expand(sets, found.get("fileSets", []))


def parse_events(lines: Iterable[str], text: str) -> BuildLog:
    """Turn the lines of a build event file, and what Bazel printed, into a `BuildLog`.

    A half-written last line is left out.
    """
    events = []
    for line in lines:
        try:
            events.append(json.loads(line))
        except ValueError:
            break
    sets = {event["id"]["namedSet"]["id"]: event["namedSetOfFiles"] for event in events if "namedSetOfFiles" in event}
    outputs = {
        event["id"]["targetCompleted"]["label"].lstrip("@"): tuple(
            path
            for group in event["completed"].get("outputGroup", [])
            if group["name"] == "default"
            for path in _expand(sets, group.get("fileSets", []))
        )
        for event in events
        if "completed" in event
    }
    ran = (
        Action(event["action"].get("type", ""), str(event["id"]["actionCompleted"].get("label", "")).lstrip("@"))
        for event in events
        if "action" in event
    )
    return BuildLog(outputs, tuple(action for action in ran if action.mnemonic != _BOOKKEEPING), text)


def _make_error(exit_code: int, lines: list[str]) -> PjrtWheelError:
    """Build an error from up to three lines: what, cause, remedy; a `BazelError` unless the exit status is ours."""
    known: list[type[PjrtWheelError]] = [PjrtWheelError, *PjrtWheelError.__subclasses__()]
    kind = next((error for error in known if error.exit_code == exit_code), BazelError)
    kept = [line.strip() for line in lines if line.strip()]
    what, cause, remedy = [*kept, "", "", ""][:3]
    return kind(what, cause=cause, remedy=remedy)


def explain_failure(status: int, log: BuildLog) -> PjrtWheelError:
    """Return the error that ended a build: Bazel's exit status, and what happened as far as it came."""
    if marked := _MARKED.search(log.text):
        return _make_error(int(marked.group(1)), marked.group(2).splitlines())
    if _DISK_FULL in log.text:
        return BazelError("no space left on the disk that Bazel works on", remedy="free some space there")
    if failed := _RULE_FAILED.search(log.text):
        return BazelError(f"Bazel failed with exit status {status}", cause=failed[1])
    lines = [line for line in log.text.splitlines() if not _NOISE.search(line)]
    begin = next((number for number, line in enumerate(lines) if line.startswith(("ERROR", "FATAL"))), -_SHOWN)
    shown = lines[begin:]
    if len(shown) > _SHOWN:  # what ended a program is in its last lines
        shown = [shown[0], "...", *shown[2 - _SHOWN :]]
    return BazelError(f"Bazel failed with exit status {status}", cause="\n".join(shown))


def report_line(line: str, step: Step) -> None:
    """Show what a line of Bazel's says of its progress, such as `[7 / 9] Assembling jaxlib; 12s linux-sandbox`."""
    done, total, action = 0, 0, ""
    if match := _COUNTS.match(line):
        done, total = (int(match[number].replace(",", "")) for number in (1, 2))
        action = match[3]
    elif match := _PHASE.match(line):
        action = match[0]
    if match:
        step.report(done, total, action.strip())
