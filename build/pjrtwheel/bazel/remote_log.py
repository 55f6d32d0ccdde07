# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What Bazel prints of its remote servers: warnings, failures that are theirs, and where results came from."""

from __future__ import annotations

import itertools
import re

from pjrtwheel.bazel.remote import VARIABLE, Remote
from pjrtwheel.errors import count

# Exit statuses of Bazel: its servers failed, are set up wrongly, or have lost what they had.
_STATUSES = frozenset({32, 34, 39})
# Those of this machine and of uploads to a server of events: the servers' only where Bazel warns of them as well.
_DOUBTFUL_STATUSES = frozenset({36, 38})
_FULL_DISK = "No space left on device"
_FAILURE = re.compile(
    r"\bremote (cache|execution|server)\b|BulkTransfer|CacheNotFound|Missing digest|UNAVAILABLE|DEADLINE_EXCEEDED",
    re.IGNORECASE,
)
_WARNING = re.compile(r"WARNING: (?!Option )(?=.*\b[Rr]emote\b)")
# At the end Bazel says: INFO: 19 processes: 7 remote cache hit, 9 internal, 3 linux-sandbox.
_SUMMARY = re.compile(r"^INFO: \d+ process(?:es)?: (.*)$", re.MULTILINE)
_PROCESS = re.compile(r"(\d+) ([a-z][a-z -]*)")
_LOCAL = re.compile(r"sandbox|local|worker")
_PLACES = {
    "remote cache hit": "from the remote cache",
    "disk cache hit": "from the disk cache",
    "remote": "on other machines",
}


def find_remote_failure(status: int, text: str) -> str:
    """Return what Bazel says of a failure that is its servers' and not the build's; nothing for any other failure."""
    if _FULL_DISK in text:
        return ""
    warnings = remote_warnings(text)
    said = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith(("ERROR:", "FATAL:"))]
    is_theirs = status in _STATUSES or (status in _DOUBTFUL_STATUSES and warnings)
    if not is_theirs and not any(_FAILURE.search(line) for line in said):
        return ""
    return next(iter([*filter(_FAILURE.search, said), *warnings, *said]), f"Bazel ended with exit status {status}")


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
    """Say how many results came from a cache and from other machines; an empty text when none did."""
    counts = _count_processes(text)
    parts = ((counts.get(kind, 0), words) for kind, words in _PLACES.items())
    return ", ".join(f"{number} {words}" for number, words in parts if number)


def describe_fallback(remote: Remote, text: str) -> str:
    """Say in one line how many actions ran here instead of on the farm, of which Bazel need not say anything."""
    here = sum(number for kind, number in _count_processes(text).items() if _LOCAL.search(kind))
    return (
        f"remote: {count(here, 'action')} ran here, not on the servers of {VARIABLE}"
        if here and remote.executes
        else ""
    )


def _count_processes(text: str) -> dict[str, int]:
    return {kind: int(number) for number, kind in _PROCESS.findall("".join(_SUMMARY.findall(text)))}
