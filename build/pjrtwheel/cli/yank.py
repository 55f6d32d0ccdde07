# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`yank`: withdraw a published release, with the reason."""

from __future__ import annotations

import argparse
import os

from pjrtwheel.cli import add_options, check_repository
from pjrtwheel.errors import UsageError, count
from pjrtwheel.publish.destinations import find_destination
from pjrtwheel.publish.places import add_place_options, open_place
from pjrtwheel.publish.yanked import yank_release


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("destination", metavar="DESTINATION", help="one of releases/destinations.toml")
    parser.add_argument("tag", metavar="TAG", help="such as v0.11.2+split.1 or select-v0.1.0")
    parser.add_argument("--reason", required=True, metavar="TEXT", help="what installers say of it")
    add_options(parser, "--root")
    add_place_options(parser)


def execute(args: argparse.Namespace) -> int:
    """Yank all wheels of the tag, and say what is left to do."""
    check_repository(args.root)
    if not args.reason.strip():
        raise UsageError("--reason is empty", remedy="say what is wrong, and which release to take in its place")
    destination = find_destination(args.root, args.destination)
    place, reason = open_place(destination, args, os.environ, args.tag), args.reason.strip()
    if destination.is_shared:
        place.yank((), reason)  # which says that there is no call for it, and what to do
    number, left = yank_release(place, args.tag, reason)
    what = f"{args.tag} at {place.address}, {count(number, 'wheel')}"
    print(f"withdrawn: {what}\n{left}" if left else f"yanked: {what}")
    return 0
