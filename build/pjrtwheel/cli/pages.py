# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`pages`: write the index of all releases of GitHub, for Pages to serve; nothing is published or withdrawn."""

from __future__ import annotations

import argparse
import os

from pjrtwheel.cli import add_options, check_repository


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from pjrtwheel.publish.destinations import Kind
    from pjrtwheel.publish.places import add_place_options

    parser.add_argument("destination", metavar="DESTINATION", help="a GitHub Release of releases/destinations.toml")
    add_options(parser, "--root")
    add_place_options(parser, kinds=[Kind.GITHUB])


def execute(args: argparse.Namespace) -> int:
    """Write the index, and say where it is."""
    from pjrtwheel.errors import UsageError
    from pjrtwheel.publish.destinations import Kind, find_destination
    from pjrtwheel.publish.github_index import open_index
    from pjrtwheel.publish.places import read_settings

    check_repository(args.root)
    destination = find_destination(args.root, args.destination)
    is_github = destination.kind is Kind.GITHUB
    index = open_index(destination, read_settings(destination, args, os.environ)) if is_github else None
    if index is None or index.path is None:
        raise UsageError(
            f"no index of {args.destination} can be written",
            cause="only a GitHub Release has one apart from its files, in a folder that Pages serves",
            remedy="name such a destination, and the folder with --pages",
        )
    index.write(index.list_projects())
    print(f"{index.path}: the index of all releases of {index.repository.address}")
    return 0
