# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`table`: print the wheels of a folder as a table in Markdown."""

from __future__ import annotations

import argparse

from pjrtwheel.cli import add_options, check_repository
from pjrtwheel.dist_folder.merge import read_folder
from pjrtwheel.dist_folder.printing import format_table


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_options(parser, "--root", "--dist")


def execute(args: argparse.Namespace) -> int:
    """Print the table, with a heading that names the folder."""
    check_repository(args.root)
    dist = args.dist or args.root / "dist"
    print(f"### {dist.resolve().name}/\n\n{format_table(read_folder(dist).values())}", end="")
    return 0
