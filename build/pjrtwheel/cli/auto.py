# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`auto`: build `jaxlib-auto` for the wheels that are there."""

from __future__ import annotations

import argparse
from pathlib import Path

from pjrtwheel.cli import add_release_option
from pjrtwheel.release.model import newest_release


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="root of the repository (default: here)")
    add_release_option(parser)
    parser.add_argument("--dist", type=Path, metavar="DIR", help="folder of the wheels (default: dist)")


def execute(args: argparse.Namespace) -> int:
    """Build the wheels and say what each is for."""
    from pjrtwheel.cli import check_repository
    from pjrtwheel.products.auto import build_auto

    check_repository(args.root)
    release = args.release or newest_release(args.root)
    for variant in build_auto(args.root, args.dist or args.root / "dist", release):
        properties = " ".join(variant.properties) or "any machine"
        print(f"{variant.label or 'plain'}: {'; '.join(variant.requires)} ({properties})")
    return 0
