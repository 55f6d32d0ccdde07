# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The directory Bazel is run in: a mirror of symbolic links to the checkout, at a path that Bazel accepts.

Bazel 4.2.3 refuses a workspace whose path holds a space or a letter outside ASCII. The mirror also keeps everything
Bazel writes out of the checkout, which may then be read-only.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.errors import BazelError
from pjrtwheel.fetch.cache import file_lock

# What the graph refers to; everything else at the top of the checkout is none of Bazel's business.
_ENTRIES = (
    ".bazelignore",
    ".bazelrc",
    "BUILD.bazel",
    "LICENSE",
    "WORKSPACE",
    "build",
    "ci",
    "jaxlib",
    "plugins",
    "releases",
    "selector",
)
_SAFE = re.compile(r"[A-Za-z0-9_./+@=-]+")
WAITS_FOR_BUILD = "waiting for another build in this checkout ..."


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where one checkout is built: the mirror that Bazel runs in, and where each kind of build has an output base."""

    directory: Path
    outputs: Path


def is_safe(path: Path) -> bool:
    """Return whether Bazel can work with a path, for all the versions that are supported."""
    return _SAFE.fullmatch(str(path)) is not None


def state_root(cache: Path, fallback: Path | None = None) -> Path:
    """Return the directory for mirrors and output bases: in the cache, unless its path is one that Bazel refuses.

    Raises:
        BazelError: The fallback belongs to somebody else.
    """
    if is_safe(cache):
        return cache
    place = fallback or Path("/var/tmp") / f"pjrtwheel-{os.getuid()}"  # noqa: S108 - its owner is checked below
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    if place.stat().st_uid != os.getuid() or place.is_symlink():
        raise BazelError(
            f"{place} belongs to another user",
            cause=f"Bazel cannot work in {cache}, because of a space or a letter outside ASCII in the path",
            remedy="name a directory with a plain path in PJRTWHEEL_CACHE",
        )
    return place


def _link(target: Path, link: Path) -> None:
    """Make or correct one symbolic link in a single step, so that a build running at the same time never misses it."""
    if link.is_symlink() and link.readlink() == target:
        return
    with tempfile.TemporaryDirectory(dir=link.parent) as scratch:
        fresh = Path(scratch) / link.name
        fresh.symlink_to(target)
        fresh.replace(link)


def lock_builds(root: Path, cache: Path) -> AbstractContextManager[None]:
    """Hold what Bazel makes for a checkout, until the wheels are taken from there.

    A build of another release, or with other options, puts its wheels into the same folders.
    """
    lock = state_root(cache) / "locks" / f"build-{_name(root)}"
    return file_lock(lock, waiting=WAITS_FOR_BUILD)


def _name(root: Path) -> str:
    return hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:12]


def prepare_workspace(root: Path, cache: Path) -> Workspace:
    """Bring the mirror of a checkout up to date and return it; see `state_root`."""
    root = root.resolve()
    state, name = state_root(cache), _name(root)
    directory = state / "workspaces" / name
    with file_lock(state / "locks" / f"workspace-{name}"):
        directory.mkdir(parents=True, exist_ok=True)
        for entry in _ENTRIES:
            if (root / entry).exists():
                _link(root / entry, directory / entry)
            else:
                (directory / entry).unlink(missing_ok=True)
    return Workspace(directory, state / "bazel" / name)
