# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`verify`: check finished wheels."""

import argparse
from pathlib import Path

from pjrtwheel.backend import load_backends
from pjrtwheel.cli import add_options, check_repository, check_wheels
from pjrtwheel.verify import verify_paths


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("wheels", nargs="+", type=Path, metavar="WHEEL", help="wheels of one set")
    add_options(parser, "--root")


def execute(args: argparse.Namespace) -> int:
    """Check the wheels; problems leave as a `VerifyError`."""
    check_repository(args.root)
    check_wheels(args.wheels)
    verify_paths(args.wheels, tuple(load_backends(args.root).values()))
    for wheel in args.wheels:
        print(f"{wheel.name}: every promise of its name and metadata holds")
    return 0
