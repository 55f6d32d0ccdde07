# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`inspect`, `verify` and `repair`: finished wheels."""

import argparse
import tempfile
from contextlib import suppress
from pathlib import Path

from pjrtwheel import tables
from pjrtwheel.backend import OWN_ROOT, load_backends
from pjrtwheel.cli import check_files
from pjrtwheel.console import open_console
from pjrtwheel.dist_folder.printing import describe_proofs
from pjrtwheel.errors import PjrtWheelError, WheelError
from pjrtwheel.program import print_error
from pjrtwheel.record.entries import Entry, read_entries
from pjrtwheel.verify import verify_wheels
from pjrtwheel.verify.inspection import inspect_wheel, make_finder
from pjrtwheel.verify.printer import describe_whole, print_lines, summarize_wheel
from pjrtwheel.wheel.assemble import repair_wheel

SCHEMA = 1
_WIDTH = 80  # of a summary where there is no terminal


def configure_parser_inspect(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "Nothing of a wheel runs. Vendors' programs, which read GPU code, are those that the release pins; like every "
        "parser they are best kept from files of unknown origin: --no-tools leaves them out."
    )
    parser.add_argument("wheels", nargs="+", type=Path, metavar="WHEEL", help="wheels of anybody")
    parser.add_argument("--verbose", action="store_true", help="print every library, file and finding")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--no-tools", action="store_true", help="do not run programs of the vendors")
    parser.add_argument(
        "--root", type=Path, default=OWN_ROOT, help="root of the repository (default: that of this program)"
    )


def execute_inspect(args: argparse.Namespace) -> int:
    """Describe each wheel; one that cannot be read does not keep the others from being described."""
    check_files(args.wheels)
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
    if args.json:
        print(tables.write_json({"schema": SCHEMA, "wheels": found}), end="")
        return status
    console, terminal = open_console()
    screen = console.width if terminal.width else _WIDTH
    listed: dict[str, Entry] = {}
    for folder in {wheel.parent for wheel in args.wheels}:
        with suppress(WheelError):  # other programs call their files release.json, too
            listed |= {entry.sha256: entry for entry in read_entries(folder).values()}
    for inspection in found:
        entry = listed.get(inspection.sha256)
        proofs = describe_proofs(entry) if entry else ()
        lines = describe_whole(inspection, proofs) if args.verbose else summarize_wheel(inspection, screen, proofs)
        print_lines(lines, console, screen if terminal.width else None)
    return status


def configure_parser_verify(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("wheels", nargs="+", type=Path, metavar="WHEEL", help="wheels of one release or several")


def execute_verify(args: argparse.Namespace) -> int:
    """Check the wheels; problems leave as a `VerifyError`."""
    check_files(args.wheels)
    verify_wheels(args.wheels, tuple(load_backends(args.root).values()))
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
