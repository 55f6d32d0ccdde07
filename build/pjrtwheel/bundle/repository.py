# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The repository at its commit as one file that `git clone` takes (git-bundle(1))."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from pjrtwheel.errors import UsageError


def write_repository(root: Path, target: Path) -> str:
    """Write the history of the checkout's commit, and return the commit.

    Raises:
        UsageError: It is no checkout of git, or has changes that are not committed.
    """
    try:
        commit = _git(root, "rev-parse", "HEAD")
        if _git(root, "status", "--porcelain", "--untracked-files=no"):
            raise UsageError(
                f"{root} has changes that are not committed",
                cause="a bundle has the repository as it is at a commit",
                remedy="commit them, or make the bundle in another clone",
            )
        if _git(root, "rev-parse", "--is-shallow-repository") == "true":
            raise UsageError(
                f"{root} has a part of the history alone",
                cause="it is a shallow clone, and nothing can be cloned from a bundle of it",
                remedy="git fetch --unshallow",
            )
        branch = _git(root, "branch", "--show-current")
        # With one thread the same commit gives the same bytes.
        pack = ("-c", "pack.threads=1", "bundle", "create", "--quiet")
        _git(root, *pack, str(target), "HEAD", *filter(None, [branch]))
    except (OSError, subprocess.CalledProcessError) as error:
        said = (error.stderr or "").strip().splitlines() if isinstance(error, subprocess.CalledProcessError) else []
        raise UsageError(
            f"git cannot bundle {root}",
            cause=said[-1] if said else str(error),
            remedy="make it in a clone of the repository",
        ) from error
    return commit


def _git(root: Path, *arguments: str) -> str:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "--no-optional-locks", "-C", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environ).stdout.strip()
