# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read the build event file that Bazel writes: outputs, actions that ran, and what went wrong.

One JSON object per line, in the form of `build_event_stream.proto`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

# Bazel's own bookkeeping, run in every build.
_BOOKKEEPING = frozenset({"BazelWorkspaceStatusAction"})


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
    exit_code: int
    stderr: str


@dataclass(frozen=True, slots=True)
class BuildLog:
    """What happened in one Bazel invocation: output files by label, actions that ran, and everything Bazel printed."""

    outputs: dict[str, tuple[Path, ...]]
    actions: tuple[Action, ...]
    text: str

    def rewrite(self, change: Callable[[str], str]) -> BuildLog:
        """Return the log with what Bazel and the actions printed changed, as by hiding credentials."""
        actions = tuple(replace(action, stderr=change(action.stderr)) for action in self.actions)
        return replace(self, actions=actions, text=change(self.text))


def path_of(uri: str) -> Path | None:
    """Return the path of a `file:` URI, None for any other."""
    parts = urlsplit(uri)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


def _read_text(file: dict[str, Any]) -> str:
    path = path_of(file.get("uri", ""))
    with suppress(OSError):
        return path.read_text("utf-8", "replace") if path else ""
    return ""


def _parse_action(event: dict[str, Any]) -> Action:
    identity, action = event["id"]["actionCompleted"], event["action"]
    success = action.get("success", False)
    return Action(
        mnemonic=action.get("type", ""),
        label=str(identity.get("label", "")).lstrip("@"),
        output=identity.get("primaryOutput", ""),
        success=success,
        exit_code=action.get("exitCode", 0),
        stderr="" if success else _read_text(action.get("stderr", {})),
    )


def _expand(sets: dict[str, dict[str, Any]], references: Iterable[dict[str, Any]]) -> Iterator[Path]:
    for reference in references:
        found = sets.get(reference["id"], {})
        for file in found.get("files", []):
            if path := path_of(file.get("uri", "")):
                yield path
        yield from _expand(sets, found.get("fileSets", []))


def _is_action(event: dict[str, Any]) -> bool:
    return "action" in event and event["action"].get("type") not in _BOOKKEEPING


def parse_events(lines: Iterable[str]) -> BuildLog:
    """Turn the lines of a build event file into a `BuildLog`; a half-written last line is left out."""
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
    progress = (event["progress"].get("stderr", "") for event in events if "progress" in event)
    return BuildLog(outputs, tuple(_parse_action(event) for event in events if _is_action(event)), "".join(progress))


def read_events(path: Path) -> BuildLog:
    """Read a build event file; an empty log when Bazel did not get as far as to write one."""
    try:
        with path.open(encoding="utf-8") as lines:
            return parse_events(lines)
    except OSError:
        return BuildLog({}, (), "")
