# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run uv and pip, let the user see what they say, and report in three lines why they failed."""

from __future__ import annotations

import collections
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence

from jaxlib_select.apply.installer import show
from jaxlib_select.errors import InstallError

_KEPT = 200  # lines of output that are searched for a reason
# With which uv draws the tree of its reasons.
_DECORATION = " -\u2500\u2502\u251c\u2570\u25b6\u00d7\u203a"

_ERROR = re.compile(r"error\b", re.IGNORECASE)
# What uv and pip say when a hash differs, no index answers, or it lacks what is wanted; what that means; the remedy.
_FAILURES = (
    (
        r"Hash mismatch|DO NOT MATCH THE HASHES",
        "a file has another hash than the lock or the package index says",
        "take the index or folder that it was written for, or write the lock again",
    ),
    (
        (
            r"Failed to establish a new connection|Connection refused|ConnectionError|Max retries exceeded"
            r"|Read timed out|Name or service not known|Temporary failure in name resolution|error sending request"
            r"|dns error|Failed to fetch|tcp connect error|Network connectivity is disabled|the network was disabled"
        ),
        "the package index cannot be reached",
        "check the network and the installer's settings, or name a folder of wheels: --no-index --find-links DIR",
    ),
    (
        (
            r"No matching distribution found|No solution found|not found in the (package registry|provided)|no version"
            r"|no wheels"
        ),
        "the package index does not have what is wanted",
        "name the index or folder that has it: --find-links DIR, or --extra-index-url URL",
    ),
)


def run_installer(command: Sequence[str], *, environ: Mapping[str, str] | None = None, quiet: bool = False) -> str:
    """Run an installer to its end; what it prints goes to standard error.

    Returns:
        What it printed.

    Raises:
        InstallError: It cannot be started, or failed.
    """
    lines: collections.deque[str] = collections.deque(maxlen=_KEPT)
    try:
        with subprocess.Popen(
            list(command),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=dict(environ) if environ is not None else None,
        ) as process:
            for line in process.stdout or ():
                lines.append(line.rstrip())
                if not quiet:
                    print(line, end="", file=sys.stderr, flush=True)
    except OSError as error:
        raise InstallError(f"cannot run {command[0]!r}", cause=str(error)) from error
    if process.returncode != 0:
        raise explain_failure(command, process.returncode, lines)
    return "\n".join(lines)


def explain_failure(command: Sequence[str], status: int, lines: Sequence[str]) -> InstallError:
    """Return why an installer failed, as far as the lines that it printed say."""
    printed = [re.sub(r"\s+", " ", line).strip(_DECORATION) for line in lines]
    for pattern, what, remedy in _FAILURES:
        line = next((line for line in printed if re.search(pattern, line, re.IGNORECASE)), None)
        if line is not None:
            return InstallError(what, cause=_short(line), remedy=remedy)
    full = [line for line in printed if line]
    reason = next((line for line in full if _ERROR.match(line)), full[-1] if full else "it printed nothing")
    return InstallError(f"the installer failed with status {status}: {show(command)}", cause=_short(reason))


def _short(line: str) -> str:
    return line if len(line) <= 300 else f"{line[:297]}..."
