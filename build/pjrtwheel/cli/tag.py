# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`tag`: print what a tag of git publishes, line by line as a workflow writes its outputs."""

from __future__ import annotations

import argparse

from pjrtwheel.cli import add_options, check_repository
from pjrtwheel.program import require_text
from pjrtwheel.workflows import read_tag


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("tag", type=require_text, help="such as v0.12.0.1+split.1, v0.11.2 or select-v0.1.0")
    add_options(parser, "--root")


def execute(args: argparse.Namespace) -> int:
    """Print `release=`, which is empty for the selector, and `artifact=`, the name of what CI uploads."""
    check_repository(args.root)
    release = read_tag(args.root, args.tag)
    print(f"release={release}\nartifact={f'release-{release}' if release else 'select'}")
    return 0
