# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Take a library that the user gave by its path: `python -m pjrtwheel.bazel.library_file --library PATH ...`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from pjrtwheel.errors import UsageError
from pjrtwheel.fetch.cache import disk_errors
from pjrtwheel.files import copy_atomically
from pjrtwheel.program import run_main


def take_library(library: Path, expected: str, output: Path) -> dict[str, str]:
    """Copy the library to `<output>/library.so` and say what it is.

    Args:
        library: The file the user named.
        expected: Its sha256 as the front end saw it, or an empty string.
        output: Directory to copy to.

    Raises:
        UsageError: No such file, or it has changed in the meantime.
    """
    if not library.is_file():
        raise UsageError(f"no such library: {str(library)!r}", remedy="give the path of a PJRT plugin with --xla PATH")
    target = output / "library.so"
    with disk_errors(output):
        digest = copy_atomically(library, target)
    if expected and digest != expected:
        raise UsageError(f"{library} changed while it was read", remedy="run the command again")
    return {"filename": library.name, "sha256": digest}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run_main(_run, argv)


def _run(argv: Sequence[str]) -> int:
    """Parse the arguments, copy and describe the library."""
    parser = argparse.ArgumentParser(prog="python -m pjrtwheel.bazel.library_file", description=__doc__)
    parser.add_argument("--library", required=True, help="path of the shared library")
    parser.add_argument("--sha256", default="", help="digest it must have")
    parser.add_argument("--output", type=Path, required=True, help="directory to copy it to")
    arguments = parser.parse_args(argv)
    print(json.dumps(take_library(Path(arguments.library), arguments.sha256, arguments.output)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
