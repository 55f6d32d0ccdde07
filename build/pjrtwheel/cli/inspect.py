# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`inspect`: say what wheels are, and what is wrong with them."""

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from pjrtwheel.backend import load_backends
from pjrtwheel.cli import add_options, check_wheels, parse_tools
from pjrtwheel.console import open_console
from pjrtwheel.errors import PjrtWheelError, UsageError
from pjrtwheel.program import print_error
from pjrtwheel.verify.compare import compare_inspections
from pjrtwheel.verify.inspection import Inspection, inspect_wheel, make_finder
from pjrtwheel.verify.printer import print_comparison, print_summary, print_wheel

SCHEMA = 1
# The checkout that holds this file: the command works from any folder.
_ROOT = Path(__file__).resolve().parents[3]


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "Nothing of a wheel runs. Vendors' programs, which read GPU code, are those that the release pins; like every "
        "parser they are best kept from files of unknown origin: --no-tools leaves them out."
    )
    parser.add_argument("wheels", nargs="+", type=Path, metavar="WHEEL", help="wheels from wherever they come")
    parser.add_argument("--compare", action="store_true", help="two wheels: only what differs, and what is equal")
    parser.add_argument("--verbose", action="store_true", help="print all of it: every library, file and finding")
    parser.add_argument("--json", action="store_true", help="print all of it as JSON")
    add_options(parser, "--tool")
    parser.add_argument("--no-tools", action="store_true", help="run no vendor's program")
    parser.add_argument(
        "--root", type=Path, default=_ROOT, help="root of the repository (default: that of this program)"
    )


def execute(args: argparse.Namespace) -> int:
    """Describe each wheel; one that cannot be read does not keep the others from being described."""
    check_wheels(args.wheels)
    if args.compare and len(args.wheels) != 2:
        raise UsageError(f"--compare takes two wheels, not {len(args.wheels)}", remedy="expected --compare A B")
    exports = {backend.library: backend.exports for backend in load_backends(args.root).values()}
    given = parse_tools(args.tool)
    found, status = [], 0
    with tempfile.TemporaryDirectory(prefix="tools-") as scratch:
        find_tool = (lambda _: None) if args.no_tools else make_finder(args.root, given, Path(scratch))
        for wheel in args.wheels:
            try:
                inspection = inspect_wheel(wheel, find_tool=find_tool, exports=exports)
                found.append(inspection)
            except PjrtWheelError as error:
                print_error(str(error))
                status = error.exit_code
    if args.compare:
        if len(found) == 2:
            _print_comparison(found, args)
    elif args.json:
        print(json.dumps({"schema": SCHEMA, "wheels": [entry.to_json() for entry in found]}, indent=2, sort_keys=True))
    else:
        _print_wheels(found, args)
    return status


def _print_comparison(found: Sequence[Inspection], args: argparse.Namespace) -> None:
    comparison = compare_inspections(*found)
    if args.json:
        print(json.dumps(comparison.to_json(), indent=2, sort_keys=True))
    else:
        console, width = _make_console()
        print_comparison(comparison, console, width, whole=args.verbose)


def _print_wheels(found: Sequence[Inspection], args: argparse.Namespace) -> None:
    console, width = _make_console()
    for entry in found:
        (print_wheel if args.verbose else print_summary)(entry, console, width)


def _make_console() -> tuple[Console, int | None]:
    """Return where to print, and how wide that is; nothing where it is no terminal."""
    console, terminal = open_console()
    return console, console.width if terminal.width else None
