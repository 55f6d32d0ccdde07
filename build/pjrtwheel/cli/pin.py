# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`pin` and `bump`: the pinned inputs of a JAX release, and the next release."""

import argparse
import dataclasses
import json
import sys

from pjrtwheel.bump import NextRelease, bump, find_next
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.pin import pin_release
from pjrtwheel.release.checks import describe_doubts


def configure_parser_pin(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("version", metavar="VERSION", help="JAX release, such as 0.11.2")
    parser.add_argument("--build", type=int, metavar="N", help="number of our set (default: the same as before, or 1)")


def execute_pin(args: argparse.Namespace) -> int:
    """Pin the release and list what was pinned."""
    print(f"asking the package index for release {args.version} ...", file=sys.stderr)
    release = pin_release(args.root, args.version, cache_root(), build=args.build)
    for pin in release.pins.values():
        print(f"{pin.key:<32} {pin.sha256[:12]} {pin.size:>12,} {pin.filename}")
    for entry in release.absent:
        print(f"absent: {entry.key}: {entry.cause}", file=sys.stderr)
    for warning in describe_doubts(release):
        print(f"warning: {warning}", file=sys.stderr)
    print(f"wrote {release.path}\nnext: ./noxw build_all --release {release.version}", file=sys.stderr)
    return 0


def configure_parser_bump(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("version", nargs="?", metavar="VERSION", help="JAX release (default: newest not yet pinned)")
    parser.add_argument("--dry-run", action="store_true", help="print the plan, and do nothing")
    parser.add_argument("--json", action="store_true", help="print the plan as JSON, and do nothing")
    parser.add_argument("--no-build", action="store_true", help="only pin and compare")


def execute_bump(args: argparse.Namespace) -> int:
    """Bump the release, and print the report; the status is that of the first step that failed."""
    root = args.root.resolve()
    found = find_next(root, args.version)
    if not found.version or args.dry_run or args.json:
        print(json.dumps(dataclasses.asdict(found)) if args.json else _describe(found))
        return 0
    print(_describe(found), file=sys.stderr)
    dist, cache = (args.dist or root / "dist").resolve(), cache_root()
    text, status = bump(root, found, dist=dist, cache=cache, building=not args.no_build)
    print(text, end="")
    return status


def _describe(found: NextRelease) -> str:
    """Say what there is to do."""
    if not found.version:
        return f"nothing to do: the package index has no release of JAX that is newer than {found.newest}"
    others = f"; also newer: {', '.join(found.passed_over)}" if found.passed_over else ""
    return f"JAX {found.version} is to be pinned, built and compared with {found.before or 'nothing'}{others}"
