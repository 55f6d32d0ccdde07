# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Documents of the repository: `python -m pjrtwheel.docs [build|linkcheck|update]`."""

import sys
from collections.abc import Sequence
from pathlib import Path

from pjrtwheel.docs.generated import render_generated
from pjrtwheel.docs.plugins import write_tables
from pjrtwheel.errors import UsageError
from pjrtwheel.files import write_atomically
from pjrtwheel.program import CommandParser, program

_ACTIONS = {
    "build": "write the site into site/ of the repository",
    "linkcheck": "ask the addresses that pages link to",
    "update": "write what is generated in README.md and docs/",
    "plugins": "inspect the newest wheel of each plugin, and run its library, for docs/vendor/plugins/",
}


def make_parser() -> CommandParser:
    """Return the parser of this program's arguments."""
    parser = CommandParser(prog="python -m pjrtwheel.docs", description=__doc__)
    about = "; ".join(f"{name}: {text}" for name, text in _ACTIONS.items())
    parser.add_argument("action", nargs="?", default="build", choices=_ACTIONS, help=about)
    parser.add_argument("names", nargs="*", metavar="NAME", help="plugins (default: all in the tables)")
    parser.add_argument("--root", type=Path, default=Path(), help="the repository (default: here)")
    return parser


@program
def main(argv: Sequence[str] | None = None) -> int:
    """Do what is asked for, and return the exit status."""
    args = make_parser().parse_all(argv)
    if not (args.root / "docs/conf.py").is_file():
        raise UsageError(f"not the repository: {args.root}", remedy="give it with --root, or change into it")
    if args.action == "plugins":
        write_tables(args.root, args.names)
    elif args.action == "update":
        for path, text in render_generated(args.root).items():
            write_atomically(args.root / path, text)
    else:
        return _make_site(args.root, args.action)
    return 0


def _make_site(root: Path, action: str) -> int:
    from pjrtwheel.docs import site  # noqa: PLC0415 - needs Sphinx, which is not installed where wheels are measured

    if action == "linkcheck":
        return site.check_links(root)
    site.build_site(root, root / "site")
    return 0


if __name__ == "__main__":
    sys.exit(main())
