# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A commit of this repository in a folder of its own, whose own tooling builds the wheels of that time."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pjrtwheel.bazel.clean import remove_workspace
from pjrtwheel.bazel.workspace import prepare_workspace
from pjrtwheel.errors import ReproduceError
from pjrtwheel.fetch.cache import cache_root

# Variables that would change what is built, or have it built by the servers and caches that are to be checked.
_OURS = (
    "PYTHONPATH",
    "SOURCE_DATE_EPOCH",
    "PJRTWHEEL_RELEASE",
    "PJRTWHEEL_PROVIDER",
    "PJRTWHEEL_LIBRARY",
    "PJRTWHEEL_REMOTE",
    "PJRTWHEEL_BAZEL_FLAGS",
)


@dataclass(frozen=True, slots=True)
class Checkout:
    """A commit in a folder.

    Attributes:
        root: The folder.
        current: The repository that this tooling runs from.
    """

    root: Path
    current: Path

    def run(self, session: str, command: Sequence[str], options: Sequence[str], epoch: int | None) -> None:
        """Run a command of the commit's tooling, which says on stderr what it does.

        It runs in the environment of this process if the commit pins the same packages; otherwise its own `noxw` makes
        the one that it pins, and runs the session.

        Raises:
            ReproduceError: It failed.
        """
        environ = {
            name: value for name, value in os.environ.items() if name not in _OURS and not name.startswith("GIT_")
        }
        if epoch is not None:
            environ["SOURCE_DATE_EPOCH"] = str(epoch)
        if _groups(self.root) == _groups(self.current):
            environ["PYTHONPATH"] = str(self.root / "build")
            line = [sys.executable, "-m", "pjrtwheel", *command, "--root", str(self.root), *options]
        else:
            line = [sys.executable, str(self.root / "noxw"), "-s", session, "--", *options]
        done = subprocess.run(line, stdout=sys.stderr, check=False, env=environ, cwd=self.root)
        if done.returncode:
            raise ReproduceError(
                f"{' '.join([session, *options])} failed at the commit of the release",
                cause=f"exit status {done.returncode}; what it said is above",
            )


@contextmanager
def check_out(repository: Path, commit: str) -> Iterator[Checkout]:
    """Make a folder with a commit, and remove it at the end with all that Bazel made for it.

    The repository stays as it is.

    Raises:
        ReproduceError: The repository lacks the commit, or is none.
    """
    if _git(repository, "cat-file", "-e", f"{commit}^{{commit}}"):
        raise ReproduceError(
            f"this repository has no commit {commit}",
            cause="the release is of another repository, or newer than this clone",
            remedy="get it with: git fetch --tags, or run this in a clone of the repository that it names",
        )
    with tempfile.TemporaryDirectory(prefix="reproduce-") as scratch:
        root = Path(scratch) / "repository"
        for arguments in (
            ("clone", "--quiet", "--shared", "--no-checkout", str(repository.resolve()), str(root)),
            ("-C", str(root), "checkout", "--quiet", "--detach", commit),
        ):
            if problem := _git(repository, *arguments):
                raise ReproduceError(f"cannot check out {commit}", cause=problem)
        try:
            yield Checkout(root, repository)
        finally:
            cache = cache_root(os.environ)
            remove_workspace(prepare_workspace(root, cache), cache, orphaned=False)


def _git(folder: Path, *arguments: str) -> str:
    """Run git, and return why it failed; empty if it did not."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False, env=environ
    )
    return (done.stderr.strip() or f"exit status {done.returncode}") if done.returncode else ""


def _groups(root: Path) -> dict[str, Any]:
    """Return what a checkout pins for its environments."""
    path = root / "pyproject.toml"
    table = tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}
    return dict(table.get("dependency-groups", {}))
