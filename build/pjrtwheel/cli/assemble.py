# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`assemble`: write a repaired wheel and its report from a manifest."""

import argparse
from pathlib import Path

from pjrtwheel.errors import UsageError
from pjrtwheel.files import explain_full_disk, write_atomically
from pjrtwheel.wheel.assemble import assemble
from pjrtwheel.wheel.compress import DEFAULT_COMPRESSION
from pjrtwheel.wheel.plan import parse_manifest
from pjrtwheel.wheel.report import REPORT_FILENAME


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--manifest", type=Path, required=True, help="members of the wheel, in JSON")
    parser.add_argument("--output", type=Path, required=True, help="directory for the wheel and report.json")
    parser.add_argument(
        "--level",
        dest="compression",
        type=int,
        default=DEFAULT_COMPRESSION,
        help=f"level of libdeflate's compression (default: {DEFAULT_COMPRESSION})",
    )


def execute(args: argparse.Namespace) -> int:
    """Write the wheel; problems leave as a `WheelError` or `ElfError`."""
    if not args.manifest.is_file():
        raise UsageError(f"no such manifest: {args.manifest}")
    spec = parse_manifest(args.manifest.read_text("utf-8"))
    report = assemble(spec, args.output, args.compression)
    with explain_full_disk(args.output):
        write_atomically(args.output / REPORT_FILENAME, report.to_json())
    print(report.describe())
    return 0
