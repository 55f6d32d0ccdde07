# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`merge`: put the wheels and records of several builds into one folder, and proofs that were made elsewhere."""

from __future__ import annotations

import argparse
from pathlib import Path


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="dist/ of one build")
    parser.add_argument(
        "--proofs",
        nargs="+",
        action="extend",
        default=[],
        type=Path,
        metavar="FILE",
        help="proofs of wheels of --dist, as `smoke_BACKEND -- --proofs FILE` writes them",
    )
    parser.add_argument("--dist", type=Path, required=True, help="where all goes")


def execute(args: argparse.Namespace) -> int:
    """Merge, and print one table of what is now in the folder; of proofs alone, of the wheels that they are of."""
    from datetime import UTC, datetime

    from pjrtwheel.dist import print_summary
    from pjrtwheel.dist.foreign_proofs import add_proof_files
    from pjrtwheel.dist.merge import merge_folders
    from pjrtwheel.errors import UsageError

    if not args.folders and not args.proofs:
        raise UsageError("nothing to merge", remedy="give folders, or files with --proofs")
    entries = merge_folders(args.folders, args.dist) if args.folders else ()
    if args.proofs:
        proven = {entry.filename: entry for entry in add_proof_files(args.proofs, args.dist, datetime.now(UTC))}
        entries = tuple(proven.get(entry.filename, entry) for entry in entries) or tuple(proven.values())
    print_summary(entries, args.dist)
    return 0
