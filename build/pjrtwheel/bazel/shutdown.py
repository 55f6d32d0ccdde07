# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""End the Bazel servers of one checkout: `python -m pjrtwheel.bazel.shutdown [--root DIR]`.

A server ends by itself after some idle time; continuous integration wants it gone at once.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pjrtwheel.bazel.workspace import prepare_workspace
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.program import CommandParser, program


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


def make_parser() -> CommandParser:
    """Return the parser of this program's arguments."""
    parser = CommandParser(prog="python -m pjrtwheel.bazel.shutdown", description=__doc__)
    parser.add_argument("--root", type=Path, default=Path(), help="the repository (default: here)")
    return parser


@program
def main(argv: Sequence[str] | None = None) -> int:
    """Ask each server to end, and return the exit status."""
    workspace = prepare_workspace(make_parser().parse_all(argv).root, cache_root(os.environ))
    for server in ask_servers_to_end(workspace.outputs):
        print(f"ended Bazel server {server}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
