# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`repair`: write a repaired copy of a finished wheel."""

import argparse
from pathlib import Path

from pjrtwheel.wheel.assemble import repair_wheel
from pjrtwheel.wheel.compress import Compression, worker_count


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("wheel", type=Path, metavar="WHEEL", help="the wheel to repair; it is not changed")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="directory for the repaired copy")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--jobs", type=int, default=worker_count(), help="compressing threads (default: one per core)")


def execute(args: argparse.Namespace) -> int:
    """Write the copy and say what was changed; problems leave as a `WheelError` or `ElfError`."""
    report = repair_wheel(args.wheel, args.output, Compression(workers=args.jobs))
    print(report.to_json() if args.json else report.describe())
    return 0
