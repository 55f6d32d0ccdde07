# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read what Bazel says: how far it is, what it made and ran, and the one message a user needs of a failure.

The build event file has one JSON object per line, in the form of `build_event_stream.proto`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pjrtwheel.errors import BazelError, PjrtWheelError
from pjrtwheel.progress import Step

_BOOKKEEPING = "BazelWorkspaceStatusAction"  # Bazel's own, run in every build
# The form of `format_error` in build/rules/private/host_python.bzl.
_MARKED = re.compile(r"pjrtwheel error (\d+)\n(.*?)\nend of error", re.DOTALL)
_NOISE = re.compile(r"src/main/tools/linux-sandbox|^Loading:|^Analyzing:|^\[\d|^INFO:|^WARNING:|^\s*$|^OpenJDK")
# The status of a tool is in what Bazel or its sandbox prints; Bazel's own events always say 1.
_STATUS = re.compile(r"exited normally with code (\d+)|\(Exit (\d+)\)")
_DISK_FULL = "No space left on device"
_COUNTS = re.compile(r"\[([\d,]+) / ([\d,]+)\]\s*(.*)")
_PHASE = re.compile(r"(Loading|Analyzing): .*")


@dataclass(frozen=True, slots=True)
class Action:
    """An action that ran; an action whose result was known already has no event.

    Its mnemonic is its kind, such as `CompileExtension`, and its output the first one, relative to the execution root.
    What it wrote to stderr is kept for failures only.
    """

    mnemonic: str
    label: str
    output: str
    success: bool
    stderr: str


@dataclass(frozen=True, slots=True)
class BuildLog:
    """What happened in one Bazel invocation: output files by label, actions that ran, and everything Bazel printed."""

    outputs: dict[str, tuple[Path, ...]]
    actions: tuple[Action, ...]
    text: str


def path_of(uri: str) -> Path | None:
    """Return the path of a `file:` URI, None for any other."""
    parts = urlsplit(uri)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


def _read_text(file: dict[str, Any]) -> str:
    path = path_of(file.get("uri", ""))
    with suppress(OSError):
        return path.read_text("utf-8", "replace") if path else ""
    return ""


def _parse_action(event: dict[str, Any], hide: Callable[[str], str]) -> Action:
    identity, action = event["id"]["actionCompleted"], event["action"]
    success = action.get("success", False)
    return Action(
        mnemonic=action.get("type", ""),
        label=str(identity.get("label", "")).lstrip("@"),
        output=identity.get("primaryOutput", ""),
        success=success,
        stderr="" if success else hide(_read_text(action.get("stderr", {}))),
    )


def _expand(sets: dict[str, dict[str, Any]], references: Iterable[dict[str, Any]]) -> Iterator[Path]:
    for reference in references:
        found = sets.get(reference["id"], {})
        for file in found.get("files", []):
            if path := path_of(file.get("uri", "")):
                yield path
        yield from _expand(sets, found.get("fileSets", []))


def parse_events(lines: Iterable[str], text: str, hide: Callable[[str], str] = str) -> BuildLog:
    """Turn the lines of a build event file, and what Bazel printed, into a `BuildLog` without what is to be hidden.

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
    ran = (_parse_action(event, hide) for event in events if "action" in event)
    return BuildLog(outputs, tuple(action for action in ran if action.mnemonic != _BOOKKEEPING), hide(text))


def _make_error(exit_code: int, lines: list[str]) -> PjrtWheelError:
    """Build an error from up to three lines: what, cause, remedy; a `BazelError` unless the exit status is ours."""
    known: list[type[PjrtWheelError]] = [PjrtWheelError, *PjrtWheelError.__subclasses__()]
    kind = next((error for error in known if error.exit_code == exit_code), BazelError)
    kept = [line.strip() for line in lines if line.strip()]
    what, cause, remedy = [*kept, "", "", ""][:3]
    return kind(what.removeprefix("error: "), cause=cause, remedy=remedy)


def _tool_status(action: Action, text: str) -> int:
    """Return the exit status of the program that a failed action ran."""
    found = _STATUS.search(action.stderr) or _STATUS.search(text)
    return int(found.group(1) or found.group(2)) if found else 1


def _from_actions(log: BuildLog) -> PjrtWheelError | None:
    for action in log.actions:
        if action.success:
            continue
        lines = [line for line in action.stderr.splitlines() if not _NOISE.search(line)]
        if lines and lines[0].startswith("error: "):
            return _make_error(_tool_status(action, log.text), lines)
        return BazelError(
            f"{action.mnemonic} of {action.label} failed with exit status {_tool_status(action, log.text)}",
            cause="\n".join(lines[-20:]),
        )
    return None


def explain_failure(status: int, log: BuildLog) -> PjrtWheelError:
    """Return the error that ended a build: Bazel's exit status, and what happened as far as it came."""
    if marked := _MARKED.search(log.text):
        return _make_error(int(marked.group(1)), marked.group(2).splitlines())
    if found := _from_actions(log):
        return found
    if _DISK_FULL in log.text:
        return BazelError("no space left on the disk that Bazel works on", remedy="free some space there")
    lines = [line for line in log.text.splitlines() if not _NOISE.search(line)]
    wanted = [line for line in lines if line.startswith(("ERROR", "FATAL"))] or lines[-5:]
    return BazelError(f"Bazel failed with exit status {status}", cause="\n".join(wanted[:5]))


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
