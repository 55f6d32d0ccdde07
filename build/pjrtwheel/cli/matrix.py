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
    """Print `workflows.jobs.Jobs`, which documents the keys, as one JSON object."""
    from pjrtwheel.backend import load_backends
    from pjrtwheel.errors import UsageError
    from pjrtwheel.release.known import list_releases, load_release
    from pjrtwheel.workflows.jobs import list_jobs

    check_repository(args.root)
    versions = [args.release] if args.release else list_releases(args.root)
    releases = [load_release(args.root, version) for version in versions]
    jobs = list_jobs(releases, tuple(load_backends(args.root).values()), once=args.once)
    if not jobs.wheels:  # GitHub refuses a job with an empty matrix, and would not say why
        raise UsageError("there is nothing to build", cause=f"no wheels for: {', '.join(versions) or 'no release'}")
    print(json.dumps(dataclasses.asdict(jobs)))
    return 0
