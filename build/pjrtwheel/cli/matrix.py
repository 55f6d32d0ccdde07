# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`matrix`: print what can be built from the package index, as continuous integration wants to have it."""

from __future__ import annotations

import argparse
import json

from pjrtwheel.cli import add_options, check_repository

# What GitHub calls its machines.
_RUNNERS = {"macos_arm64": "macos-15", "windows_x86_64": "windows-2025"}


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_options(parser, "--root", "--release")
    parser.add_argument(
        "--native", action="store_true", help="print the machines that run wheels of platforms on which none are built"
    )


def execute(args: argparse.Namespace) -> int:
    """Print one JSON list of objects: `backend` and `platform`, or `platform`, `runner` and `python`.

    `jaxlib` stands for a backend where a platform has none, as in the name of the session that builds it.
    """
    from pjrtwheel.backend import load_backends
    from pjrtwheel.platforms import host_platform
    from pjrtwheel.release.checks import list_bindings_alone, list_prebuilt
    from pjrtwheel.release.known import load_release

    check_repository(args.root)
    release = load_release(args.root, args.release)
    pairs = list_prebuilt(release, load_backends(args.root).values(), host_platform())
    alone = list_bindings_alone(release, pairs)
    if args.native:
        jobs = [
            {"platform": platform, "runner": _RUNNERS[platform], "python": f"{python[2]}.{python[3:]}"}
            for platform in alone
            for python in release.pythons(platform)
        ]
    else:
        pairs += tuple(("jaxlib", platform) for platform in alone)
        jobs = [{"backend": backend, "platform": platform} for backend, platform in pairs]
    print(json.dumps(jobs))
    return 0
