# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`merge`: put the wheels and records of several builds into one folder."""

from __future__ import annotations

import argparse
from pathlib import Path


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="dist/ of one build")
    parser.add_argument("--dist", type=Path, required=True, help="where all goes")


def execute(args: argparse.Namespace) -> int:
    """Merge, and print one table of what is now in the folder."""
    from pjrtwheel.dist import print_summary
    from pjrtwheel.dist.merge import merge_folders

    print_summary(merge_folders(args.folders, args.dist), args.dist)
    return 0
