# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`index`: write a static package index of finished wheels."""

from __future__ import annotations

import argparse
from pathlib import Path


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="root of the repository (default: here)")
    parser.add_argument("--dist", type=Path, metavar="DIR", help="folder of the wheels (default: dist)")
    parser.add_argument("--output", type=Path, metavar="DIR", help="root of the index (default: simple in --dist)")


def execute(args: argparse.Namespace) -> int:
    """Write the index and say what is in it."""
    from pjrtwheel.index import write_index

    dist = args.dist or args.root / "dist"
    output = args.output or dist / "simple"
    for project in write_index(dist, output):
        print(f"{project.name}: {len(project.files)} files, {', '.join(project.versions)}")
    print(f"{output}: serve it, and give installers its address with --index-url")
    return 0
