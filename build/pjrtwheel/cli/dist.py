# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`merge`, `table` and `sizes`: folders of finished wheels, and what is in them."""

import argparse
from datetime import UTC, datetime
from pathlib import Path

from pjrtwheel.cli import add_options, check_files, check_repository
from pjrtwheel.dist_folder import print_wheels
from pjrtwheel.dist_folder.merge import add_proof_files, merge_folders, read_folder
from pjrtwheel.dist_folder.printing import format_table
from pjrtwheel.errors import UsageError
from pjrtwheel.program import require_text
from pjrtwheel.release.known import load_release
from pjrtwheel.release_check.policy import SIZES_FILE, measure, write_sizes
from pjrtwheel.sets import SELECTOR
from pjrtwheel.workflows import read_tag


def configure_parser_merge(parser: argparse.ArgumentParser) -> None:
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


def execute_merge(args: argparse.Namespace) -> int:
    """Merge, and print one table of what is now in the folder, or of the wheels that the proofs are of."""
    if bool(args.folders) == bool(args.proofs):  # proofs that are refused change nothing, so they come by themselves
        raise UsageError("merge takes either folders or --proofs", remedy="merge folders first, then proofs of them")
    if args.proofs:
        check_files(args.proofs, "files", "*.json")
        entries = add_proof_files(args.proofs, args.dist, datetime.now(UTC))
    else:
        entries = merge_folders(args.folders, args.dist)
    print_wheels(entries, args.dist, details=True)
    return 0


def configure_parser_table(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_options(parser, "--root", "--dist")


def execute_table(args: argparse.Namespace) -> int:
    """Print the table, with a heading that names the folder."""
    check_repository(args.root)
    dist = args.dist or args.root / "dist"
    print(f"### {dist.resolve().name}/\n\n{format_table(read_folder(dist).values())}", end="")
    return 0


def configure_parser_sizes(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--tag", type=require_text, required=True, help="such as v0.12.0.1+split.1")
    add_options(parser, "--root", "--dist")


def execute_sizes(args: argparse.Namespace) -> int:
    """Put the sizes that the folder's `release.json` states into the place of what was known of the release."""
    check_repository(args.root)
    version, dist = read_tag(args.root, args.tag), args.dist or args.root / "dist"
    if not version:
        raise UsageError(
            f"no sizes are kept of {args.tag}",
            cause=f"{SELECTOR} holds no library, and may grow",
            remedy="give the tag of a release of JAX",
        )
    release = load_release(args.root, version)
    entries = [entry for entry in read_folder(dist).values() if entry.version == release.set_version]
    sizes = measure(args.tag, entries)
    if not sizes:
        raise UsageError(f"no wheel of {release.set_version} in {dist}", remedy="name another folder with --dist")
    write_sizes(args.root, sizes, args.tag)
    print(f"{len(sizes)} sizes of {args.tag} in {SIZES_FILE}")
    return 0
