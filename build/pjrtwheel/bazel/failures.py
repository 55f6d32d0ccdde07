# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find the one message a user needs in what a failed Bazel build leaves behind."""

from __future__ import annotations

import re

from pjrtwheel.bazel.events import Action, BuildLog
from pjrtwheel.errors import BazelError, PjrtWheelError

# The form of `format_error` in build/rules/private/host_python.bzl.
_MARKED = re.compile(r"pjrtwheel error (\d+)\n(.*?)\nend of error", re.DOTALL)
_NOISE = re.compile(r"src/main/tools/linux-sandbox|^Loading:|^Analyzing:|^\[\d|^INFO:|^WARNING:|^\s*$|^OpenJDK")
# Bazel's own events always say 1; the tool's status is in what Bazel or its sandbox prints.
_STATUS = re.compile(r"exited normally with code (\d+)|\(Exit (\d+)\)")
_DISK_FULL = "No space left on device"


def _make_error(exit_code: int, lines: list[str]) -> PjrtWheelError:
    """Build an error from up to three lines: what, cause, remedy; a `BazelError` unless the exit status is ours."""
    known: list[type[PjrtWheelError]] = [PjrtWheelError, *PjrtWheelError.__subclasses__()]
    kind = next((error for error in known if error.exit_code == exit_code), BazelError)
    kept = [line.strip() for line in lines if line.strip()]
    what, cause, remedy = [*kept, "", "", ""][:3]
    return kind(what.removeprefix("error: "), cause=cause, remedy=remedy)


def _tool_status(action: Action, text: str) -> int:
    """Return the exit status of the program that an action ran; `text` is all that Bazel printed."""
    found = _STATUS.search(action.stderr) or _STATUS.search(text)
    return int(found.group(1) or found.group(2)) if found else action.exit_code


def _from_actions(log: BuildLog, text: str) -> PjrtWheelError | None:
    for action in log.actions:
        if action.success:
            continue
        lines = [line for line in action.stderr.splitlines() if not _NOISE.search(line)]
        if lines and lines[0].startswith("error: "):
            return _make_error(_tool_status(action, text), lines)
        return BazelError(
            f"{action.mnemonic} of {action.label} failed with exit status {_tool_status(action, text)}",
            cause="\n".join(lines[-20:]),
        )
    return None


def explain_failure(status: int, log: BuildLog, text: str) -> PjrtWheelError:
    """Return the error that ended a build: Bazel's exit status, its events as far as it came, and all it printed."""
    if marked := _MARKED.search(text):
        return _make_error(int(marked.group(1)), marked.group(2).splitlines())
    if found := _from_actions(log, text):
        return found
    if _DISK_FULL in text:
        return BazelError("no space left on the disk that Bazel works on", remedy="free some space there")
    lines = [line for line in text.splitlines() if not _NOISE.search(line)]
    wanted = [line for line in lines if line.startswith(("ERROR", "FATAL"))] or lines[-5:]
    return BazelError(f"Bazel failed with exit status {status}", cause="\n".join(wanted[:5]))
