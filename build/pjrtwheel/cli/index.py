# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`index`: write a static package index of finished wheels."""

import argparse
import sys
from pathlib import Path

from pjrtwheel.cli import add_options
from pjrtwheel.console import print_text
from pjrtwheel.errors import count
from pjrtwheel.files import display_path
from pjrtwheel.products.index import write_index
from pjrtwheel.products.index.projects import find_unlisted
from pjrtwheel.products.index.release_pages import MAIN_PAGE
from pjrtwheel.publish.yanked import YANKED_FILE, read_reasons
from pjrtwheel.record.entries import read_entries


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = "An index of several releases is what `publish folder` writes."
    add_options(parser, "--root", "--dist")
    parser.add_argument("--output", type=Path, metavar="DIR", help="root of the index (default: simple in --dist)")


def execute(args: argparse.Namespace) -> int:
    """Write the index and say what is in it."""
    dist = args.dist or args.root / "dist"
    output = args.output or dist / "simple"
    projects = write_index(dist, output, read_reasons(args.root / YANKED_FILE, read_entries(dist)))
    for project in projects:
        print_text(f"{project.name}: {count(len(project.files), 'file')}, {', '.join(project.versions)}")
    for name in find_unlisted(dist, projects):
        print(f"warning: {name} is not in the index, for release.json does not list it", file=sys.stderr)
    # jax and what it needs come from another index, so this one must not take the place of all others.
    folder = display_path(output.absolute())
    print_text(f"{folder}: serve it, and give pip its address with --extra-index-url, or uv with --index")
    print_text(f"{folder}/{MAIN_PAGE}: how to install, what was proven, sizes and hashes, for people")
    return 0
