# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Fetch one pinned wheel: `python -m pjrtwheel.fetch --release-file F --pin KEY --output DIR [--unpack GLOB ...]`.

Prints one JSON object about what is now in DIR. Errors go to stderr, without a traceback.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from pjrtwheel.fetch.cache import WheelCache, cache_root
from pjrtwheel.fetch.index import download_wheel
from pjrtwheel.fetch.unpack import unpack_wheel
from pjrtwheel.files import explain_full_disk, link_or_copy
from pjrtwheel.program import CommandParser, program
from pjrtwheel.release.model import read_release


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = CommandParser(prog="python -m pjrtwheel.fetch", description="Fetch one pinned wheel.")
    parser.add_argument("--release-file", type=Path, required=True, help="a file of releases/")
    parser.add_argument("--pin", required=True, metavar="KEY", help="which pin, such as plugin.cpu.linux_x86_64")
    parser.add_argument("--output", type=Path, required=True, help="directory for the wheel or its members")
    parser.add_argument("--describe", action="store_true", help="fetch nothing, only say what is pinned")
    parser.add_argument("--unpack", action="append", default=[], metavar="GLOB", help="members that must be there")
    parser.add_argument("--unpack-if-present", action="append", default=[], metavar="GLOB", help="members that may")
    return parser.parse_all(argv)


def execute(arguments: argparse.Namespace, cache: WheelCache) -> dict[str, object]:
    """Fetch and, when asked for, unpack; return the pin, and the names of the files now in the output directory.

    Raises:
        PjrtWheelError: No such pin, or the wheel could not be downloaded.
    """
    pin = read_release(arguments.release_file).pin(arguments.pin)
    if arguments.describe:
        return {"pin": asdict(pin), "members": ()}
    wheel = cache.fetch(pin)
    output: Path = arguments.output
    with explain_full_disk(output):
        output.mkdir(parents=True, exist_ok=True)
        if arguments.unpack or arguments.unpack_if_present:
            members = unpack_wheel(wheel, output, arguments.unpack, optional=arguments.unpack_if_present)
        else:
            (output / pin.filename).unlink(missing_ok=True)
            link_or_copy(wheel, output / pin.filename)
            members = (pin.filename,)
    return {"pin": asdict(pin), "members": members}


@program
def main(argv: Sequence[str] | None = None) -> int:
    """Fetch, print what there is now, and return the exit status."""
    result = execute(parse(argv), WheelCache(cache_root(), download_wheel))
    print(json.dumps(result, sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
