# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`matrix`: print the jobs of continuous integration, as `fromJSON` of a workflow wants to have them."""

from __future__ import annotations

import argparse
import dataclasses
import json

from pjrtwheel.cli import add_options, check_repository


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_options(parser, "--root")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--release", metavar="VERSION", help="this JAX release alone (default: all of releases/)")
    only.add_argument(
        "--once", action="store_true", help="each backend and platform once, out of the newest release that has it"
    )


def execute(args: argparse.Namespace) -> int:
    """Print one JSON object with the lists `wheels`, `tests` and `native`; `release/jobs.py` documents the keys."""
    from pjrtwheel.backend import load_backends
    from pjrtwheel.platforms import host_platform
    from pjrtwheel.release.jobs import list_jobs
    from pjrtwheel.release.known import list_releases, load_release

    check_repository(args.root)
    releases = [
        load_release(args.root, name) for name in ([args.release] if args.release else list_releases(args.root))
    ]
    backends = tuple(load_backends(args.root).values())
    print(json.dumps(dataclasses.asdict(list_jobs(releases, backends, host_platform(), once=args.once))))
    return 0
