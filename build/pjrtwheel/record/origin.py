# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""From which state of this repository, and when, evidence came."""

import os
import re
import subprocess
import time
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pjrtwheel.errors import UsageError, fit
from pjrtwheel.tables import column, metadata

PRINTABLE = r"[^\x00-\x1f\x7f-\x9f]*\S[^\x00-\x1f\x7f-\x9f]*"
COMMIT = r"[0-9a-f]{40}|[0-9a-f]{64}"  # git would take a branch as well
DATE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
VERSION = r"[0-9A-Za-z.+!_-]*"
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

    commit: str | None = field(metadata=metadata(pattern=COMMIT))
    dirty: bool | None
    version: str = field(metadata=metadata(pattern=VERSION))
    date: str = field(metadata=metadata(pattern=f"|{DATE}"))
    signed_off_by: str = column(pattern=f"|{PRINTABLE}", default="", omit_default=True)


def find_origin(root: Path, environ: Mapping[str, str]) -> Origin:
    """Look at the repository and the clock, or at SOURCE_DATE_EPOCH.

    A copy without git inside another repository has no commit.

    Raises:
        UsageError: SOURCE_DATE_EPOCH is no moment.
    """
    commit = _find_commit(root)
    changes = list_changes(root) if commit else None
    version = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    return Origin(commit, None if changes is None else bool(changes), version, find_date(environ))


def _find_commit(root: Path) -> str | None:
    """Return the commit of this very repository; nothing for a copy inside another one."""
    top = ask_git(root, "rev-parse", "--show-toplevel")  # with other slashes on Windows
    return ask_git(root, "rev-parse", "HEAD") if top is not None and Path(top) == root.resolve() else None


def find_signer(root: Path, given: str | None) -> str:
    """Return who signs off: who is named, or else git's user.

    Raises:
        UsageError: Nobody is named, and git knows no user; or the name cannot be printed.
    """
    name, address = (ask_git(root, "config", f"user.{key}") or "" for key in ("name", "email"))
    signer = given or (f"{name} <{address}>" if address else name)
    if not re.fullmatch(PRINTABLE, signer):
        raise UsageError(
            "nobody signs off the proofs" if not signer.strip() else f"not a name: {signer!r}",
            remedy="say who does: --signed-off-by 'NAME <ADDRESS>', or git config user.name",
        )
    return signer


def describe_commit_fault(origin: Origin, commits: Collection[str]) -> str:
    """Say why a release with these commits in its history does not count something because of its own; or nothing."""
    if origin.commit is None:
        return "outside git, from no commit"
    if origin.commit not in commits:
        return f"at commit {origin.commit[:12]}, which the release does not come from"
    return "" if origin.dirty is False else f"with uncommitted changes at {origin.commit[:12]}"


def is_in_history(root: Path, commit: str, of: str) -> bool:
    """Return whether a commit is another one, or came before it; not if a shallow clone lacks it."""
    return commit == of or ask_git(root, "merge-base", "--is-ancestor", commit, of) is not None


def counts_for(kept: Origin, here: Origin, root: Path) -> bool:
    """Return whether evidence of an earlier run is as good for a release of this state as evidence that is found now.

    That is so unless a release would count only the latter. From changes that are in no commit, no release is made.
    """
    if here.commit is None or here.dirty:
        return True
    known = [kept.commit] if kept.commit and is_in_history(root, kept.commit, here.commit) else []
    return not describe_commit_fault(kept, known)


def list_changes(root: Path) -> tuple[str, ...] | None:
    """Return the files that differ from the commit, or that it does not have; nothing if git has no answer."""
    # Whoever set status.showUntrackedFiles or a submodule's `ignore` did not mean releases.
    found = ask_git(root, "status", "--porcelain", "--untracked-files=all", "--ignore-submodules=none")
    return None if found is None else tuple(line.strip().split(maxsplit=1)[-1] for line in found.splitlines())


def describe_changes(root: Path) -> str:
    """Say that wheels built here are not for a release, and which files are uncommitted; nothing if none are."""
    changes = list_changes(root) if _find_commit(root) else None
    return f"not for a release, as these files are uncommitted: {fit(changes)}" if changes else ""


def find_date(environ: Mapping[str, str]) -> str:
    """Return the moment that SOURCE_DATE_EPOCH names, or this one.

    >>> find_date({"SOURCE_DATE_EPOCH": "0"})
    '1970-01-01T00:00:00Z'
    >>> find_date({"SOURCE_DATE_EPOCH": "yesterday"})
    Traceback (most recent call last):
    pjrtwheel.errors.UsageError: SOURCE_DATE_EPOCH is 'yesterday'
    expected seconds since 1970

    Raises:
        UsageError: It names none.
    """
    text = environ.get("SOURCE_DATE_EPOCH") or str(int(time.time()))
    try:
        moment = datetime.fromtimestamp(int(text), UTC)
    except (ValueError, OverflowError, OSError):
        raise UsageError(f"SOURCE_DATE_EPOCH is {text!r}", remedy="expected seconds since 1970") from None
    return moment.strftime(_FORMAT)


def ask_git(root: Path, *arguments: str) -> str | None:
    """Return what git answers about a folder; nothing if it has no answer, or is not installed."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "--no-optional-locks", "-C", str(root), *arguments]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
    except OSError:
        return None
    return result.stdout.strip() if result.returncode == 0 else None
