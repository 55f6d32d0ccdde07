# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`shutdown`: end the Bazel servers of one checkout.

A server ends by itself after some idle time; continuous integration wants it gone at once.
"""

from __future__ import annotations

import argparse
import os
import sys

from pjrtwheel.bazel.workspace import ask_servers_to_end, prepare_workspace
from pjrtwheel.cli import add_options, check_repository
from pjrtwheel.fetch.cache import cache_root


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_options(parser, "--root")


def execute(args: argparse.Namespace) -> int:
    """Ask each server to end."""
    check_repository(args.root)
    for server in ask_servers_to_end(prepare_workspace(args.root, cache_root(os.environ)).outputs):
        print(f"ended Bazel server {server}", file=sys.stderr)
    return 0
