# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`probe`: run PJRT's conformance checks on plugin libraries, without JAX."""

import argparse
import json
from pathlib import Path

from pjrtwheel import tables
from pjrtwheel.backend import load_backends
from pjrtwheel.cli import add_options, check_files, check_repository
from pjrtwheel.errors import ProofError
from pjrtwheel.probe.plugin import ProbeOutcome, probe_file


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = "The library's code runs, in a process of its own: name only files that you trust."
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="plugin libraries, or wheels with one")
    add_options(parser, "--root")
    parser.add_argument("--device", action="store_true", help="the device is here, so that its absence is a failure")
    parser.add_argument("--json", action="store_true", help="print every check, as JSON")


def execute(args: argparse.Namespace) -> int:
    """Run the checks on each file, say what they showed, and fail when a check failed or a library did not open."""
    check_repository(args.root)
    check_files(args.files, "libraries", "*.so")
    backends = tuple(load_backends(args.root).values())
    results = {str(file): probe_file(file, backends, device=args.device) for file in args.files}
    if args.json:
        print(json.dumps(tables.write(results), indent=2))
    else:
        for name, result in results.items():
            print(f"{Path(name).name}: PJRT {result.pjrt_api or 'not read'}: {result.summary()}")
    done = {ProbeOutcome.PASSED, ProbeOutcome.NO_DEVICE}
    return 0 if all(result.outcome in done for result in results.values()) else ProofError.exit_code
