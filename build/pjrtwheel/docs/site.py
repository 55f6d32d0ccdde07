# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Build the documentation site of `docs/`: `python -m pjrtwheel.docs.site [build|serve|linkcheck]`.

Sphinx makes it; every warning is an error, and only `linkcheck` uses the network.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from pjrtwheel.errors import UsageError, count
from pjrtwheel.program import CommandParser, program

_SOURCE = "docs"
_MARK = "searchindex.js"  # what every site of Sphinx has: only such a folder is replaced
_PORT = 8000


def make_parser() -> CommandParser:
    """Return the parser of this program's arguments."""
    parser = CommandParser(prog="python -m pjrtwheel.docs.site", description="build the documentation, or show it")
    parser.add_argument(
        "action",
        nargs="?",
        default="build",
        choices=["build", "serve", "linkcheck"],
        help="`serve` builds it and serves it on this machine alone; `linkcheck` asks the addresses that pages link to",
    )
    parser.add_argument(
        "--output", type=Path, metavar="FOLDER", help="where it goes (default: site/ of the repository)"
    )
    parser.add_argument("--port", type=int, default=_PORT, help=f"for `serve` (default: {_PORT}; 0 takes a free one)")
    parser.add_argument("--root", type=Path, default=Path(), help="the repository (default: here)")
    return parser


@program
def main(argv: Sequence[str] | None = None) -> int:
    """Do what is asked for, and return the exit status."""
    args = make_parser().parse_all(argv)
    if not (args.root / _SOURCE / "conf.py").is_file():
        raise UsageError(f"not the repository: {args.root}", remedy="give it with --root, or change into it")
    if args.action == "linkcheck":
        return check_links(args.root)
    output = args.output or args.root / "site"
    build_site(args.root, output)
    if args.action == "serve":
        serve(output, args.port)
    return 0


def build_site(root: Path, output: Path) -> None:
    """Write the site into a folder, whole or not at all; an older site there is replaced.

    Raises:
        UsageError: A page has a mistake, or the folder holds something else.
    """
    if output.exists() and not (output.is_dir() and ((output / _MARK).is_file() or not any(output.iterdir()))):
        raise UsageError(f"{output} exists and is no site", remedy="name another folder with --output")
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=".site-") as scratch:
        built = Path(scratch) / "html"
        if _run_sphinx("html", root, built, Path(scratch) / "trees"):
            raise UsageError("the documentation has mistakes", remedy="see above; nothing was written")
        shutil.rmtree(output, ignore_errors=True)
        built.rename(output)
    print(f"{count(len(list(output.rglob('*.html'))), 'page')}: {output / 'index.html'}")


def check_links(root: Path) -> int:
    """Ask each foreign address that a page links to, and return 1 if one does not answer."""
    with tempfile.TemporaryDirectory() as scratch:
        return min(1, _run_sphinx("linkcheck", root, Path(scratch) / "links", Path(scratch) / "trees"))


def _run_sphinx(builder: str, root: Path, output: Path, trees: Path) -> int:
    options = ["--fail-on-warning", "--quiet", f"--builder={builder}", f"--doctree-dir={trees}"]
    command = [sys.executable, "-m", "sphinx", *options, str(root / _SOURCE), str(output)]
    return subprocess.run(command, check=False).returncode


class _Server(ThreadingHTTPServer):
    """One that says where it is as soon as it answers."""

    def server_activate(self) -> None:
        super().server_activate()
        host, port = self.server_address[:2]
        print(f"http://{host!s}:{port}/ (Ctrl+C ends it)", flush=True)


class _Handler(SimpleHTTPRequestHandler):
    """One that prints nothing for each file."""

    def log_message(self, *_: object) -> None:
        pass


def serve(folder: Path, port: int) -> None:
    """Serve a folder to this machine alone, until Ctrl+C."""
    handler = functools.partial(_Handler, directory=str(folder))
    with _Server(("127.0.0.1", port), handler) as server:
        server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
