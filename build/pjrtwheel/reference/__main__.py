# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write `docs/reference/`: `python -m pjrtwheel.reference [--root DIR]`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from pjrtwheel.cli import check_repository
from pjrtwheel.files import write_atomically
from pjrtwheel.program import CommandParser, program
from pjrtwheel.reference.pages import render_pages


def make_parser() -> CommandParser:
    """Return the parser of this program's arguments."""
    parser = CommandParser(prog="python -m pjrtwheel.reference", description="write the generated pages of docs/")
    parser.add_argument("--root", type=Path, default=Path(), help="the repository (default: here)")
    return parser


@program
def main(argv: Sequence[str] | None = None) -> int:
    """Write all pages and return the exit status."""
    root = make_parser().parse_all(argv).root.resolve()
    check_repository(root)
    for path, text in render_pages(root).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(root / path, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
