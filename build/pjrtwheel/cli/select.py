# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`select`: build the wheel of `jaxlib-select`."""

from __future__ import annotations

import argparse
from pathlib import Path


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="root of the repository (default: here)")
    parser.add_argument("--dist", type=Path, metavar="DIR", help="folder of the wheels (default: dist)")


def execute(args: argparse.Namespace) -> int:
    """Build the wheel and say where it is."""
    from pjrtwheel.cli import check_repository
    from pjrtwheel.products.select import build_selector

    check_repository(args.root)
    print(build_selector(args.root, args.dist or args.root / "dist").path)
    return 0
