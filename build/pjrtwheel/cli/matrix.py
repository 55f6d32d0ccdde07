# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`matrix`: print what can be built from the package index, as continuous integration wants to have it."""

from __future__ import annotations

import argparse
import json

from pjrtwheel.cli import add_options, check_repository


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_options(parser, "--root", "--release")


def execute(args: argparse.Namespace) -> int:
    """Print one JSON list of objects with `backend` and `platform`."""
    from pjrtwheel.backend import load_backends
    from pjrtwheel.platforms import host_platform
    from pjrtwheel.release.checks import list_prebuilt
    from pjrtwheel.release.model import load_release

    check_repository(args.root)
    pairs = list_prebuilt(load_release(args.root, args.release), load_backends(args.root).values(), host_platform())
    print(json.dumps([{"backend": backend, "platform": platform} for backend, platform in pairs]))
    return 0
