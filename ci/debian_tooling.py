# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run the tooling (`python -m pjrtwheel`) with a Python, and a Bazel, of Debian: see debian_root.py.

What the tooling needs is unpacked from outside, once for each Python and architecture, and kept in the cache.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from packaging.dependency_groups import resolve_dependency_groups

from debian_root import DebianRoot, RootError, add_mount_options, add_root_options, provide, without_dashes
from debian_visit import REPOSITORY, Visit, plan_visit, run_inside
from pjrtwheel.environment.venv import unpack_into
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import staging_folder
from pjrtwheel.program import program


def add_python_option(parser: argparse.ArgumentParser) -> None:
    """Declare which Python of the root it is."""
    parser.add_argument("--python", default="python3", metavar="NAME", help="program in the root (default: python3)")


def create_venv_inside(folder: Path, visit: Visit, python: str, target: Path) -> None:
    """Make an empty environment of a root's Python in a folder that can be written inside.

    Raises:
        RootError: That Python is not there, or cannot.
    """
    if run_inside(folder, visit, [python, "-I", "-m", "venv", "--without-pip", str(target)]) != 0:
        raise RootError(
            f"{python} of the root cannot make a virtual environment",
            cause="it is not installed there, or without its module venv",
            remedy=f"install it with --package {python} --package {python}-venv",
        )


def provide_tooling(root: DebianRoot, folder: Path, visit: Visit, python: str, *, group: str = "build") -> Path:
    """Return the Python, inside, of an environment with a dependency group of ours, which is made on first use.

    Raises:
        RootError: The root's Python cannot make an environment.
        ProofError: The package index has no wheels for it.
    """
    groups = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    identity = f"{group} {python} {root.name} {groups}"
    place = cache_root(os.environ) / "debian"
    kept = place / f"tooling-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"
    if not kept.is_dir():
        with staging_folder(place) as scratch:
            create_venv_inside(folder, visit, python, scratch / "venv")
            unpack_into(scratch / "venv", root.platform, resolve_dependency_groups(groups, group))
            (scratch / "venv").rename(kept)
    return kept / "bin" / "python"


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of this program's arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_root_options(parser)
    add_python_option(parser)
    add_mount_options(parser)
    parser.add_argument("--group", default="build", help="dependency group that it needs (default: build)")
    parser.add_argument("--module", default="pjrtwheel", help="module to run instead of pjrtwheel, such as pytest")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="such as: build cpu --no-smoke --dist DIR")
    return parser


@program
def main(argv: Sequence[str] | None = None) -> int:
    """Run one command of the tooling in a root, and return its exit status."""
    args = make_parser().parse_args(argv)
    root, folder = provide(args)
    visit = plan_visit(os.environ, write=args.write, read=args.read, here=Path.cwd())
    python = provide_tooling(root, folder, visit, args.python, group=args.group)
    visit = replace(visit, environ={**visit.environ, "PJRTWHEEL_PYTHON": str(python)})
    return run_inside(folder, visit, [str(python), "-m", args.module, *without_dashes(args.command)])


if __name__ == "__main__":
    sys.exit(main())
