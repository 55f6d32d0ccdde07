# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`auto`: build `jaxlib-auto` for the wheels that are there."""

from __future__ import annotations

import argparse

from pjrtwheel.cli import add_options, check_repository
from pjrtwheel.console import print_text
from pjrtwheel.products.auto import build_auto
from pjrtwheel.record.entries import require_record
from pjrtwheel.release.known import load_release


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_options(parser, "--root", "--release", "--dist")


def execute(args: argparse.Namespace) -> int:
    """Build the wheels and say what each is for."""
    check_repository(args.root)
    if args.dist:
        require_record(args.dist)
    release = load_release(args.root, args.release)
    for variant in build_auto(args.root, args.dist or args.root / "dist", release):
        properties = " ".join(variant.properties) or "any machine"
        print_text(f"{variant.label or 'plain'}: {'; '.join(variant.requires)} ({properties})")
    print_text("next: ./noxw index")
    return 0
