# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`pages`: write the index of all releases of GitHub, for Pages to serve; nothing is published or withdrawn."""

from __future__ import annotations

import argparse
import os

from pjrtwheel.cli import add_options, check_repository
from pjrtwheel.errors import UsageError
from pjrtwheel.publish.destinations import DestinationKind, find_destination
from pjrtwheel.publish.github import GithubRelease
from pjrtwheel.publish.places import OF_GITHUB, add_place_options, open_place


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("destination", metavar="DESTINATION", help="a GitHub Release of releases/destinations.toml")
    add_options(parser, "--root")
    add_place_options(parser, OF_GITHUB)


def execute(args: argparse.Namespace) -> int:
    """Write the index, and say where it is."""
    check_repository(args.root)
    destination = find_destination(args.root, args.destination)
    is_github = destination.kind is DestinationKind.GITHUB
    place = open_place(destination, args, os.environ, tag="") if is_github else None
    if not isinstance(place, GithubRelease) or not place.index:
        raise UsageError(
            f"no index of {args.destination} can be written",
            cause="only a GitHub Release has one apart from its files, in a folder that Pages serves",
            remedy="name such a destination, and the folder with --pages",
        )
    place.write_index()
    print(f"{place.index}: the index of all releases of {place.address}")
    return 0
