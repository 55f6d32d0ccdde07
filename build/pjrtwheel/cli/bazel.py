# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`clean` and `shutdown`: what Bazel keeps, and its servers."""

import argparse
import sys

from pjrtwheel.bazel.workspace import ask_servers_to_end, find_workspaces, prepare_workspace, remove_workspace
from pjrtwheel.environment.venv import scratch_place
from pjrtwheel.errors import count
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import remove_stale_folders


def configure_parser_clean(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--all", action="store_true", help="also remove the cache of this checkout")


def execute_clean(args: argparse.Namespace) -> int:
    """Remove the outputs, and say how much space became free; environments of proofs that were killed go as well."""
    cache = cache_root()
    own = prepare_workspace(args.root, cache)
    removals = [
        remove_workspace(entry, cache, orphaned=not (args.all and entry == own)) for entry in find_workspaces(cache)
    ]
    freed = [size for size in removals if size is not None]
    print(f"removed the Bazel outputs of {count(len(freed), 'checkout')}, {sum(freed) / 1e9:.1f} GB")
    remove_stale_folders(scratch_place(cache))
    return 0


def execute_shutdown(args: argparse.Namespace) -> int:
    """Ask each server to end."""
    for server in ask_servers_to_end(prepare_workspace(args.root, cache_root()).outputs):
        print(f"ended Bazel server {server}", file=sys.stderr)
    return 0
