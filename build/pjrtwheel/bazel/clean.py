# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""End Bazel's servers, and remove what it left in the cache for checkouts that are gone.

A checkout has an output base of some gigabytes in the cache, which outlives it: the cache does not notice that a
clone was deleted.
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from pjrtwheel.bazel.workspace import Workspace, state_root
from pjrtwheel.errors import BazelError
from pjrtwheel.fetch.cache import file_lock

PATIENCE_S = 10.0


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
