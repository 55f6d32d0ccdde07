# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`merge`: folders of finished wheels, and proofs of them."""

import argparse
from pathlib import Path

from pjrtwheel.cli import check_files
from pjrtwheel.dist_folder.folder import add_proof_files, merge_folders
from pjrtwheel.dist_folder.printing import print_wheels
from pjrtwheel.errors import UsageError


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="folder of one build")
    parser.add_argument(
        "--proofs",
        nargs="+",
        action="extend",
        default=[],
        type=Path,
        metavar="FILE",
        help="proofs of wheels of --dist, as `smoke_BACKEND -- --proofs FILE` writes them",
    )
    parser.add_argument("--dist", type=Path, required=True, help="folder to put everything into")


def execute(args: argparse.Namespace) -> int:
    """Merge, and print one table of what is now in the folder, or of the wheels that the proofs are of."""
    if bool(args.folders) == bool(args.proofs):  # proofs that are refused change nothing, so they come by themselves
        raise UsageError("merge takes either folders or --proofs", remedy="merge folders first, then proofs of them")
    if args.proofs:
        check_files(args.proofs, "files", "*.json")
        entries = add_proof_files(args.proofs, args.dist)
    else:
        entries = merge_folders(args.folders, args.dist)
    print_wheels(entries, args.dist, details=True)
    return 0
