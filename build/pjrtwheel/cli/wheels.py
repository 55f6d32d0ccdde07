# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`inspect`, `verify` and `repair`: finished wheels."""

import argparse
import json
import tempfile
from pathlib import Path

from pjrtwheel.backend import load_backends
from pjrtwheel.cli import add_options, check_wheels
from pjrtwheel.console import open_console
from pjrtwheel.errors import PjrtWheelError, UsageError
from pjrtwheel.program import print_error
from pjrtwheel.verify import verify_wheels
from pjrtwheel.verify.compare import compare_inspections
from pjrtwheel.verify.inspection import inspect_wheel, make_finder
from pjrtwheel.verify.printer import print_comparison, print_summary, print_wheel
from pjrtwheel.wheel.assemble import repair_wheel

SCHEMA = 1
# The checkout that holds this file: the command works from any folder.
_ROOT = Path(__file__).resolve().parents[3]


def configure_parser_inspect(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "Nothing of a wheel runs. Vendors' programs, which read GPU code, are those that the release pins; like every "
        "parser they are best kept from files of unknown origin: --no-tools leaves them out."
    )
    parser.add_argument("wheels", nargs="+", type=Path, metavar="WHEEL", help="wheels from wherever they come")
    parser.add_argument("--compare", action="store_true", help="two wheels: only what differs, and what is equal")
    parser.add_argument("--verbose", action="store_true", help="print all of it: every library, file and finding")
    parser.add_argument("--json", action="store_true", help="print all of it as JSON")
    parser.add_argument("--no-tools", action="store_true", help="run no vendor's program")
    parser.add_argument(
        "--root", type=Path, default=_ROOT, help="root of the repository (default: that of this program)"
    )


def execute_inspect(args: argparse.Namespace) -> int:
    """Describe each wheel; one that cannot be read does not keep the others from being described."""
    check_wheels(args.wheels)
    if args.compare and len(args.wheels) != 2:
        raise UsageError(f"--compare takes two wheels, not {len(args.wheels)}", remedy="expected --compare A B")
    exports = {backend.library: backend.exports for backend in load_backends(args.root).values()}
    found, status = [], 0
    with tempfile.TemporaryDirectory(prefix="tools-") as scratch:
        find_tool = (lambda _: None) if args.no_tools else make_finder(args.root, Path(scratch))
        for wheel in args.wheels:
            try:
                inspection = inspect_wheel(wheel, find_tool=find_tool, exports=exports)
                found.append(inspection)
            except PjrtWheelError as error:
                print_error(str(error))
                status = error.exit_code
    if args.compare and len(found) != 2:
        return status
    comparison = compare_inspections(*found) if args.compare else None
    if args.json:
        wheels = {"schema": SCHEMA, "wheels": [inspection.to_json() for inspection in found]}
        print(json.dumps(comparison.to_json() if comparison else wheels, indent=2, sort_keys=True))
        return status
    console, terminal = open_console()
    width = console.width if terminal.width else None  # nothing where it is no terminal
    if comparison:
        print_comparison(comparison, console, width, whole=args.verbose)
    for inspection in () if comparison else found:
        (print_wheel if args.verbose else print_summary)(inspection, console, width)
    return status


def configure_parser_verify(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("wheels", nargs="+", type=Path, metavar="WHEEL", help="wheels of one set")
    add_options(parser, "--root")


def execute_verify(args: argparse.Namespace) -> int:
    """Check the wheels; problems leave as a `VerifyError`."""
    check_wheels(args.wheels)
    verify_wheels([(wheel, None) for wheel in args.wheels], tuple(load_backends(args.root).values()))
    for wheel in args.wheels:
        print(f"{wheel.name}: every promise of its name and metadata holds")
    return 0


def configure_parser_repair(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("wheel", type=Path, metavar="WHEEL", help="the wheel to repair; it is not changed")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="directory for the repaired copy")


def execute_repair(args: argparse.Namespace) -> int:
    """Write the copy and say what was changed; problems leave as a `WheelError` or `ElfError`."""
    print(repair_wheel(args.wheel, args.output).describe())
    return 0
