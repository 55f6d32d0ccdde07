# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`index`: write a static package index of finished wheels."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pjrtwheel.cli import add_options


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_options(parser, "--root", "--dist")
    parser.add_argument("--output", type=Path, metavar="DIR", help="root of the index (default: simple in --dist)")


def execute(args: argparse.Namespace) -> int:
    """Write the index and say what is in it."""
    from pjrtwheel.errors import count
    from pjrtwheel.products.index import write_index
    from pjrtwheel.products.index.projects import find_unlisted

    dist = args.dist or args.root / "dist"
    output = args.output or dist / "simple"
    projects = write_index(dist, output)
    for project in projects:
        print(f"{project.name}: {count(len(project.files), 'file')}, {', '.join(project.versions)}")
    for name in find_unlisted(dist, projects):
        print(f"warning: {name} is not in the index, for release.json does not list it", file=sys.stderr)
    # jax and what it needs come from another index, so this one must not take the place of all others.
    print(f"{output}: serve it, and give pip its address with --extra-index-url, or uv with --index")
    return 0
