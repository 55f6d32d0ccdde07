# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The directory Bazel is run in: a mirror of symbolic links to the checkout, at a path that Bazel accepts.

Bazel 4.2.3 refuses a workspace whose path holds a space or a letter outside ASCII. The mirror also keeps everything
Bazel writes out of the checkout, which may then be read-only. A checkout has an output base of some gigabytes in the
cache, which outlives it: the cache does not notice that a clone was deleted.
"""

import hashlib
import os
import re
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
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
PATIENCE_S = 10.0
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


def find_workspaces(cache: Path) -> Iterator[Workspace]:
    """Yield every mirror in the cache with its output bases, in order of name."""
    state = state_root(cache)
    names = {path.name for kind in ("workspaces", "bazel") for path in state.glob(f"{kind}/*")}
    for name in sorted(names):
        yield Workspace(state / "workspaces" / name, state / "bazel" / name)


def is_orphaned(workspace: Workspace) -> bool:
    """Return whether the checkout of a mirror is gone: none of its links leads anywhere.

    A checkout on a disk that is not mounted looks the same; its wheels are then built anew, from the cached downloads.
    """
    return not any(path.exists() for path in workspace.directory.glob("*"))


def remove_workspace(workspace: Workspace, cache: Path, *, orphaned: bool = True) -> int | None:
    """End the Bazel servers of a checkout, remove its mirror and outputs, and return the bytes that became free.

    Unless `orphaned` is false, only if its checkout is gone: decided while nobody else can fill the mirror.

    Returns:
        Nothing when the checkout is there.

    Raises:
        BazelError: A server does not end.
    """
    with file_lock(state_root(cache) / "locks" / f"workspace-{workspace.directory.name}"):
        if orphaned and not is_orphaned(workspace):
            return None
        end_servers(workspace.outputs)
        freed = sum(path.lstat().st_blocks * 512 for path in workspace.outputs.rglob("*") if not path.is_dir())
        for folder in (workspace.outputs, workspace.directory):
            if folder.exists():
                shutil.rmtree(folder, onerror=remove_from_read_only)
    return freed


def end_servers(outputs: Path, patience: float = PATIENCE_S) -> None:
    """Ask the Bazel servers of some output bases to end, and wait; raise a `BazelError` when one does not."""
    ask_servers_to_end(outputs)
    deadline = time.monotonic() + patience
    while remaining := find_servers(outputs):
        if time.monotonic() > deadline:
            raise BazelError(
                f"Bazel server {remaining[0]} does not end", cause="it may be building", remedy="wait, and try again"
            )
        time.sleep(0.1)


def remove_from_read_only(remove: Callable[[str], object], path: str, _error: object) -> None:
    """Make a folder writable and try again: Bazel takes the right to write from its outputs. Follows no link."""
    parent = Path(path).parent
    parent.chmod(parent.stat().st_mode | stat.S_IRWXU)
    if not Path(path).is_symlink():
        Path(path).chmod(stat.S_IRWXU)
    remove(path)


def find_servers(outputs: Path, processes: Path = Path("/proc")) -> tuple[int, ...]:
    """Return the process ids of the servers whose output bases, of any version and kind, lie below a directory.

    A process counts only if its own command line names the output base: a dead server's id may have a new owner.
    """
    found = []
    for path in sorted(outputs.glob("*/*/server/server.pid.txt")):
        try:
            identity = path.read_text("utf-8").strip()
            command = (processes / identity / "cmdline").read_bytes()
        except OSError:
            continue
        if os.fsencode(path.parent.parent) in command:
            found.append(int(identity))
    return tuple(found)


def ask_servers_to_end(outputs: Path) -> tuple[int, ...]:
    """Ask the servers below a directory to end, and return their process ids; one may be gone by then."""
    servers = find_servers(outputs)
    for server in servers:
        with suppress(ProcessLookupError):
            os.kill(server, signal.SIGTERM)
    return servers
