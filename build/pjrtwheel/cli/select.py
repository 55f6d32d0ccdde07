# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`select`: build the wheel of `jaxlib-select`."""

from __future__ import annotations

import argparse
import sys

from pjrtwheel.cli import add_options, check_repository
from pjrtwheel.files import display_path
from pjrtwheel.products.pure_python import build_selector


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_options(parser, "--root", "--dist")


def execute(args: argparse.Namespace) -> int:
    """Build the wheel and say where it is."""
    check_repository(args.root)
    path = build_selector(args.root, args.dist or args.root / "dist").path.absolute()
    print(display_path(path) if sys.stdout.isatty() else path)  # a shell's substitution does not expand ~
    return 0
