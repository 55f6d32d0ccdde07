# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`conformance`: run JAX's own tests on the built-in client and on a plugin."""

import argparse
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from pjrtwheel.backend import Backend, load_backends, pick_backend
from pjrtwheel.cli import add_options, check_repository
from pjrtwheel.conformance.clients import HOW_TO_GET, find_python, find_test_files, make_environment, run_clients
from pjrtwheel.conformance.comparison import format_report, listed_backends, load_expected
from pjrtwheel.errors import ProofError, UsageError
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.platforms import host_platform
from pjrtwheel.sets.wheel_sets import find_set


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = f"{HOW_TO_GET}. JAX_NUM_GENERATED_CASES and other variables of JAX hold for both clients."
    parser.add_argument("tests", type=Path, metavar="PATH_TO_JAX_TESTS", help="the tests/ folder of JAX")
    parser.add_argument("files", nargs="*", metavar="FILE", help="test files in it, such as lax_test (default: all)")
    parser.add_argument("--backend", help="the plugin to compare (default: the one with a list)")
    add_options(parser, "--root", "--release", "--dist", "--set")
    parser.add_argument("--environment", type=Path, metavar="PYTHON", help="use this environment, not a fresh one")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="files at a time (default: 1)")
    parser.add_argument("--case-limit", type=float, default=300, metavar="SECONDS", help="time limit of a case")


def execute(args: argparse.Namespace) -> int:
    """Run the files, print the comparison, and fail when a difference is not in the list of expected ones."""
    check_repository(args.root)
    backend = choose_backend(load_backends(args.root), listed_backends(args.root), args.backend)
    expected = load_expected(args.root, backend.name)
    test_files = find_test_files(args.tests, args.files)
    if args.environment and (args.set or args.release):
        raise UsageError("there is no use for --set and --release with --environment", remedy="leave them out")
    with tempfile.TemporaryDirectory(prefix="conformance-") as scratch:
        python = args.environment or _install(args, backend, Path(scratch))
        differences = run_clients(python, test_files, backend, expected, case_seconds=args.case_limit, jobs=args.jobs)
    print(format_report(differences))
    bad = any(difference.unexpected() or difference.unusable for difference in differences)
    return ProofError.exit_code if bad else 0


def _install(args: argparse.Namespace, backend: Backend, scratch: Path) -> Path:
    """Make an environment with the wheels of a set, and return its Python."""
    dist, cache = args.dist or args.root / "dist", cache_root(os.environ)
    found = find_set(args.root, dist, backend, host_platform(), cache, release=args.release, where=args.set)
    interpreter = find_python(found.release)
    return make_environment(scratch, args.root, found.release, interpreter, found.fetch_pair(interpreter.tag))


def choose_backend(backends: Mapping[str, Backend], listed: Sequence[str], name: str | None) -> Backend:
    """Return the backend of a name; without one, the only backend with a list of expected differences."""
    if name is None and len(listed) != 1:
        raise UsageError("which backend? give --backend", remedy=f"known backends: {', '.join(backends)}")
    return pick_backend(backends, name or listed[0])
