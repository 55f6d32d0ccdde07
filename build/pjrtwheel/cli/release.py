# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`release`: all wheels of a release, `jaxlib-select`, `jaxlib-auto` and the index, with the plan first."""

import argparse
import os
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from pjrtwheel.backend import check_files, load_backends
from pjrtwheel.build import check_writable
from pjrtwheel.cli import find_function, make_parser
from pjrtwheel.console import print_text
from pjrtwheel.errors import PjrtWheelError
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import display_path
from pjrtwheel.platforms import host_platform
from pjrtwheel.program import require_text
from pjrtwheel.record.origin import describe_changes
from pjrtwheel.release.known import load_release
from pjrtwheel.release_plan import describe_plan, list_steps, plan_builds
from pjrtwheel.sets.tags import tag_of


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = "After a failure, run it again: it continues with what is in the cache."
    parser.add_argument("version", type=require_text, metavar="VERSION", help="JAX release, such as 0.11.2")
    parser.add_argument("--no-smoke", action="store_true", help="do not prove the wheels in clean environments")
    parser.add_argument("--dry-run", action="store_true", help="print the plan, and build nothing")


def execute(args: argparse.Namespace) -> int:
    """Print the plan and, unless that is all, follow it step by step; the first that fails ends it."""
    root = args.root.resolve()
    dist = (args.dist or (root if os.access(root, os.W_OK) else Path.cwd()) / "dist").resolve()
    release, backends = load_release(root, args.version), tuple(load_backends(root).values())
    for backend in backends:
        check_files(backend)
    for folder in (dist, cache_root()):
        check_writable(folder)
    builds = tuple(plan_builds(release, backends, dist=dist, host=host_platform()))
    print_text("\n".join((*describe_plan(release, backends, builds, dist), *filter(None, [describe_changes(root)]))))
    if args.dry_run:
        print("nothing was built: this is a dry run")
        return 0
    run_steps(list_steps(release, builds, smoke_tests=not args.no_smoke), root, dist)
    print(f"next: TAG={tag_of(release)}; git tag $TAG && ./noxw release_check --tag $TAG --dist {display_path(dist)}")
    return 0


def run_steps(steps: Mapping[str, Sequence[str]], root: Path, dist: Path) -> None:
    """Run commands one after the other; each is under the name of what it makes.

    Raises:
        PjrtWheelError: One failed; what is done, and how to go on, is printed before.
    """
    for number, (name, words) in enumerate(steps.items(), 1):
        step = f"step {number} of {len(steps)}: {name}"
        print(f"{step} ({shlex.join(['./noxw', *words])})", flush=True)
        start = time.monotonic()
        try:
            _run(words, root, dist)
        except PjrtWheelError:
            done = ", ".join(list(steps)[: number - 1]) or "nothing"
            again = "run the same command again; it continues with what is in the cache"
            print(f"{step} failed; done: {done} ({number - 1} of {len(steps)}); {again}", file=sys.stderr)
            raise
        print(f"{step} is done, {time.monotonic() - start:.0f} s", flush=True)


def _run(words: Sequence[str], root: Path, dist: Path) -> None:
    command, *arguments = words
    parsed = make_parser(command).parse_all([*arguments, "--root", str(root), "--dist", str(dist)])
    find_function("execute", command)(parsed)
