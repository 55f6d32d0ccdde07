# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The settings of a remote cache or of remote execution, a bazelrc named in PJRTWHEEL_REMOTE, and what Bazel says then.

Bazel reads the file itself: its own options decide how it signs in, how long it waits and when it goes on here.
"""

import itertools
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from pjrtwheel.errors import UsageError

VARIABLE = "PJRTWHEEL_REMOTE"
_WARNING = re.compile(r"WARNING: (?!Option )(?=.*\b[Rr]emote\b)")
# At the end Bazel says: INFO: 19 processes: 7 remote cache hit, 9 internal, 3 linux-sandbox.
_SUMMARY = re.compile(r"^INFO: \d+ process(?:es)?: (.*)$", re.MULTILINE)


def read_remote(environ: Mapping[str, str]) -> Path | None:
    """Return the file of settings that the environment names; nothing when it names none.

    Raises:
        UsageError: There is no such file, or others may change it, who would choose the servers, or read it, who would
            have its credentials.
    """
    path = Path(environ[VARIABLE]).absolute() if environ.get(VARIABLE) else None
    if path and not path.is_file():
        raise UsageError(f"no such file: {path}", cause=f"{VARIABLE} names it", remedy="give the path of a bazelrc")
    if path and path.stat().st_mode & 0o077:
        raise UsageError(f"others may read or change {path}", remedy=f"chmod 600 {shlex.quote(str(path))}")
    return path


def remote_warnings(text: str) -> tuple[str, ...]:
    """Return what Bazel warns of its servers, each thing once, as one line."""
    found = dict.fromkeys(
        f"{line} {following}" if line.endswith(":") else line  # version 4 writes the reason on a line of its own
        for line, following in itertools.pairwise([*text.splitlines(), ""])
        if _WARNING.match(line)
    )
    return tuple(line.removeprefix("WARNING: ").strip() for line in found)


def describe_warnings(text: str) -> str:
    """Say in one line what Bazel warns of its servers; an empty text when it does not."""
    warnings = remote_warnings(text)
    more = f" (and {len(warnings) - 1} more)" if len(warnings) > 1 else ""
    return f"remote: {warnings[0]}{more}" if warnings else ""


def describe_processes(text: str) -> str:
    """Say how many results came from a cache and from other machines, in Bazel's words; an empty text when none did."""
    parts = ", ".join(_SUMMARY.findall(text)).removesuffix(".").split(", ")
    return ", ".join(part for part in parts if "remote" in part or "cache" in part)
