# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Remove what Bazel left in the cache for checkouts that are gone.

A checkout has an output base of some gigabytes in the cache, which outlives it: nobody tells the cache that a clone
was deleted.
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from pjrtwheel.bazel.shutdown import find_servers
from pjrtwheel.bazel.workspace import Workspace, state_root
from pjrtwheel.fetch.cache import file_lock

_PATIENCE_S = 10.0


def find_workspaces(cache: Path) -> Iterator[Workspace]:
    """Yield every mirror in the cache with its output bases, in order of name."""
    state = state_root(cache)
    names = {path.name for kind in ("workspaces", "bazel") for path in state.glob(f"{kind}/*")}
    for name in sorted(names):
        yield Workspace(state / "workspaces" / name, state / "bazel" / name)


def is_orphaned(workspace: Workspace) -> bool:
    """Tell whether the checkout of a mirror is gone: none of its links leads anywhere.

    A checkout on a disk that is not mounted looks the same; its wheels are then built anew, from the cached downloads.
    """
    return not any(path.exists() for path in workspace.directory.glob("*"))


def remove_workspace(workspace: Workspace, cache: Path) -> int:
    """End the Bazel servers of a checkout, remove its mirror and outputs, and return the bytes that became free."""
    end_servers(workspace.outputs)
    with file_lock(state_root(cache) / "locks" / f"workspace-{workspace.directory.name}"):
        freed = sum(path.lstat().st_blocks * 512 for path in workspace.outputs.rglob("*") if not path.is_dir())
        for folder in (workspace.outputs, workspace.directory):
            if folder.exists():
                shutil.rmtree(folder, onerror=_remove_read_only)
    return freed


def end_servers(outputs: Path) -> None:
    """Ask the Bazel servers of some output bases to end, and wait until they have."""
    servers = find_servers(outputs)
    for server in servers:
        os.kill(server, signal.SIGTERM)
    deadline = time.monotonic() + _PATIENCE_S
    while find_servers(outputs) and time.monotonic() < deadline:
        time.sleep(0.1)


def _remove_read_only(remove: Callable[[str], object], path: str, _error: object) -> None:
    """Make a folder writable, and try again: Bazel takes the right to write from its outputs."""
    parent = Path(path).parent
    parent.chmod(parent.stat().st_mode | stat.S_IRWXU)
    Path(path).chmod(stat.S_IRWXU)
    remove(path)
