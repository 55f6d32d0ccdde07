# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`attest`: write the folder of a release, as it is published."""

from __future__ import annotations

import argparse
from pathlib import Path

from pjrtwheel.cli import add_options, check_repository


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--tag", required=True, help="such as v0.11.2+split.1 or select-v0.1.0")
    add_options(parser, "--root", "--dist")
    parser.add_argument("--output", type=Path, metavar="DIR", help="the folder to write (default: TAG in --dist)")


def execute(args: argparse.Namespace) -> int:
    """Write the folder and say what is in it."""
    from pjrtwheel.attest.release_set import find_release_set
    from pjrtwheel.attest.write import write_release_folder
    from pjrtwheel.errors import count

    check_repository(args.root)
    dist = args.dist or args.root / "dist"
    found = find_release_set(args.root, args.tag, dist)
    release = write_release_folder(found, dist, args.output or dist / args.tag, {})
    print(f"{release.path}: {count(len(release.entries), 'wheel')}, {', '.join(release.documents)}")
    return 0
