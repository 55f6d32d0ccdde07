# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m pjrtwheel pin VERSION`: write the pinned inputs of a JAX release."""

from __future__ import annotations

import argparse
import os
import sys

from pjrtwheel.cli import add_options
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.pin import pin_release
from pjrtwheel.release.checks import describe_doubts


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("version", help="JAX release, such as 0.11.2")
    parser.add_argument(
        "--missing", action="store_true", help="ask only for what is not pinned yet, such as a new backend"
    )
    parser.add_argument("--build", type=int, metavar="N", help="number of our set (default: as before, or 1)")
    add_options(parser, "--root")


def execute(args: argparse.Namespace) -> int:
    """Pin the release and list what was pinned."""
    print(f"asking the package index for release {args.version} ...", file=sys.stderr)
    release = pin_release(args.root, args.version, cache_root(os.environ), build=args.build, missing_only=args.missing)
    for pin in release.pins.values():
        print(f"{pin.key:<32} {pin.sha256[:12]} {pin.size:>12,} {pin.filename}")
    for entry in release.absent:
        print(f"absent: {entry.key}: {entry.cause}", file=sys.stderr)
    for warning in describe_doubts(release):
        print(f"warning: {warning}", file=sys.stderr)
    print(f"wrote {release.path}", file=sys.stderr)
    return 0
