# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`sizes`: write down the sizes of a release's wheels, which those of the next release are held to."""

from __future__ import annotations

import argparse

from pjrtwheel.cli import add_options, check_repository
from pjrtwheel.dist_folder.merge import read_folder
from pjrtwheel.errors import UsageError
from pjrtwheel.program import require_text
from pjrtwheel.release.known import load_release
from pjrtwheel.release_check.policy import SIZES_FILE, measure, write_sizes
from pjrtwheel.sets import SELECTOR
from pjrtwheel.workflows import read_tag


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--tag", type=require_text, required=True, help="such as v0.12.0.1+split.1")
    add_options(parser, "--root", "--dist")


def execute(args: argparse.Namespace) -> int:
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
