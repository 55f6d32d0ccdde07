# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`release_check`: say whether a release can be published, and all that is wrong with it."""

import argparse
import sys

from pjrtwheel.cli import add_options, check_repository
from pjrtwheel.program import require_text
from pjrtwheel.publish.destinations import find_destination
from pjrtwheel.release_check.check import check_release, describe_statuses, format_problems, status_of


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = f"exit status (below 10: it could not be checked):\n{describe_statuses()}"
    parser.add_argument("--tag", type=require_text, required=True, help="such as v0.12.0.1+split.1, or select-v0.1.0")
    place = "also hold it to what a destination takes, by its name"
    parser.add_argument("--to", type=require_text, metavar="DESTINATION", help=place)
    add_options(parser, "--root", "--dist")


def execute(args: argparse.Namespace) -> int:
    """Print one line if all is well, and otherwise every problem; return the status of their kind."""
    check_repository(args.root)
    root = args.root.resolve()
    destination = find_destination(root, args.to) if args.to else None
    outcome = check_release(root, args.tag, args.dist or root / "dist", destination)
    for line in format_problems(outcome.problems):
        print(line, file=sys.stderr)
    if not outcome.problems:
        print(outcome.summary)
    return status_of(outcome.problems)
