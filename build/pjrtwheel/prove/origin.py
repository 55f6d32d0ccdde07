# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""From which state of this repository, and when, evidence came."""

from __future__ import annotations

import os
import subprocess
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pjrtwheel.errors import UsageError
from pjrtwheel.tables import column

_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True, slots=True)
class Origin:
    """Who found something out, and when; of evidence that was kept, it is that of the run that found it.

    Attributes:
        commit: Commit of this repository; nothing outside git.
        dirty: Whether the files were other than that commit's; nothing outside git.
        version: Version of this tooling.
        date: The moment in UTC, as `2026-11-21T09:40:00Z`; SOURCE_DATE_EPOCH where it is set.
        signed_off_by: Who vouches for it, where it came from another machine by a file of proofs.
    """

    commit: str | None
    dirty: bool | None
    version: str
    date: str
    signed_off_by: str = column(default="", omit_default=True)


def find_origin(root: Path, environ: Mapping[str, str]) -> Origin:
    """Look at the repository and the clock, or at SOURCE_DATE_EPOCH.

    A copy without git inside another repository has no commit.

    Raises:
        UsageError: SOURCE_DATE_EPOCH is no moment.
    """
    ours = ask_git(root, "rev-parse", "--show-toplevel") == str(root.resolve())
    commit = ask_git(root, "rev-parse", "HEAD") if ours else None
    changes = list_changes(root) if commit else None
    version = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    return Origin(commit, None if changes is None else bool(changes), version, find_date(environ))


def counts_for(kept: Origin, now: Origin, root: Path) -> bool:
    """Return whether evidence of an earlier run is as good for a release of this state as evidence that is found now.

    A release counts what was found at its commit, or at one before it, without changes (`release_check`).
    """
    if now.commit is None or now.dirty:
        return True
    if kept.commit is None or kept.dirty is not False:
        return False
    return (
        kept.commit == now.commit or ask_git(root, "merge-base", "--is-ancestor", kept.commit, now.commit) is not None
    )


def list_changes(root: Path) -> tuple[str, ...] | None:
    """Return the files that differ from the commit, or that it does not have; nothing if git has no answer."""
    # Whoever set status.showUntrackedFiles or a submodule's `ignore` did not mean releases.
    found = ask_git(root, "status", "--porcelain", "--untracked-files=all", "--ignore-submodules=none")
    return None if found is None else tuple(line.strip().split(maxsplit=1)[-1] for line in found.splitlines())


def find_date(environ: Mapping[str, str]) -> str:
    """Return the moment that SOURCE_DATE_EPOCH names, or this one.

    >>> find_date({"SOURCE_DATE_EPOCH": "0"})
    '1970-01-01T00:00:00Z'

    Raises:
        UsageError: It names none.
    """
    text = environ.get("SOURCE_DATE_EPOCH") or str(int(time.time()))
    try:
        moment = datetime.fromtimestamp(int(text), UTC)
    except (ValueError, OverflowError, OSError):
        raise UsageError(f"SOURCE_DATE_EPOCH is {text!r}", remedy="expected seconds since 1970") from None
    return moment.strftime(_FORMAT)


def read_moment(text: str) -> datetime | None:
    """Return the moment that such a date names; nothing for another text.

    >>> read_moment("2026-11-21T09:40:00Z").isoformat(), read_moment("yesterday")
    ('2026-11-21T09:40:00+00:00', None)
    """
    try:
        return datetime.strptime(text, _FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None


def ask_git(root: Path, *arguments: str) -> str | None:
    """Return what git answers about a folder; nothing if it has no answer, or is not installed."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "--no-optional-locks", "-C", str(root), *arguments]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
    except OSError:
        return None
    return result.stdout.strip() if result.returncode == 0 else None
