# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`conformance`: run JAX's own tests on the built-in client and on a plugin."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pjrtwheel.backend import Backend, pick_backend
from pjrtwheel.cli import add_options, check_repository
from pjrtwheel.errors import UsageError
from pjrtwheel.platforms import host_platform

if TYPE_CHECKING:
    from pjrtwheel.sets.finished_set import FinishedSet


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from pjrtwheel.conformance.clients import CLIENTS, HOW_TO_GET

    parser.epilog = f"{HOW_TO_GET}. JAX_NUM_GENERATED_CASES and other variables of JAX hold for both clients."
    parser.add_argument("tests", type=Path, metavar="PATH_TO_JAX_TESTS", help="the tests/ folder of JAX")
    parser.add_argument("files", nargs="*", metavar="FILE", help="test files in it, such as lax_test (default: all)")
    parser.add_argument("--backend", help="the plugin to compare (default: the one with a list)")
    add_options(parser, "--root", "--release", "--dist", "--set")
    parser.add_argument("--python", metavar="TAG", help="Python to use, such as cp312 (default: the oldest here)")
    parser.add_argument("--environment", type=Path, metavar="PYTHON", help="use this environment, not a fresh one")
    parser.add_argument("--results", type=Path, metavar="DIR", help="where raw results are kept (default: the cache)")
    parser.add_argument("--report-only", action="store_true", help="compare what is kept there, run nothing")
    parser.add_argument("--client", action="append", choices=CLIENTS, help="run on this client only")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="files at a time (default: 1)")
    parser.add_argument("--file-limit", type=float, default=3600, metavar="SECONDS", help="time limit of a file")
    parser.add_argument("--case-limit", type=float, default=300, metavar="SECONDS", help="time limit of a case")


def execute(args: argparse.Namespace) -> int:
    """Run the files, print the comparison, and fail when a difference is not in the list of expected ones."""
    from pjrtwheel.backend import load_backends
    from pjrtwheel.conformance.clients import (
        CLIENTS,
        compare_runs,
        find_test_files,
        installed_version,
        results_folder,
    )
    from pjrtwheel.conformance.comparison import format_report, listed_backends, load_expected
    from pjrtwheel.errors import ProofError
    from pjrtwheel.fetch.cache import cache_root

    check_repository(args.root)
    backend = choose_backend(load_backends(args.root), listed_backends(args.root), args.backend)
    expected = load_expected(args.root, backend.name)
    test_files = find_test_files(args.tests, args.files)
    cache = cache_root(os.environ)
    wheels = None if args.environment or (args.report_only and args.results) else _find_set(args, backend, cache)
    if wheels is None and (args.set or args.release):
        raise UsageError(
            "there is no use for --set and --release where no set is looked for",
            cause="--environment has one installed, and --results says which results to compare",
            remedy="leave them out",
        )
    results = args.results
    if results is None:
        version = wheels.bindings.version if wheels else installed_version(args.environment, backend)
        results = results_folder(cache, backend, version)
    clients = tuple(args.client or CLIENTS)
    if not args.report_only:
        _run(args, wheels, test_files, backend, results, clients)
    if set(clients) != set(CLIENTS):
        return 0
    differences = compare_runs(results, [path.name for path in test_files], expected)
    print(format_report(differences))
    bad = any(difference.unexpected() or difference.unusable for difference in differences)
    return ProofError.exit_code if bad else 0


def _find_set(args: argparse.Namespace, backend: Backend, cache: Path) -> FinishedSet:
    from pjrtwheel.sets.finished_set import find_set

    dist = args.dist or args.root / "dist"
    return find_set(args.root, dist, backend, host_platform(), cache, release=args.release, where=args.set)


def _run(
    args: argparse.Namespace,
    wheels: FinishedSet | None,
    test_files: Sequence[Path],
    backend: Backend,
    results: Path,
    clients: Sequence[str],
) -> None:
    """Run the files in a fresh environment with wheels, or in the one that is named."""
    from pjrtwheel.conformance.clients import find_python, make_environment, run_clients
    from pjrtwheel.conformance.run_file import Limits

    limits = Limits(args.file_limit, args.case_limit)
    with tempfile.TemporaryDirectory(prefix="conformance-") as scratch:
        python = args.environment
        if wheels:
            interpreter = find_python(wheels.release, args.python)
            pair = wheels.fetch_pair(interpreter.tag)
            python = make_environment(Path(scratch), args.root, wheels.release, interpreter, pair)
        run_clients(python, test_files, backend, limits, results=results, jobs=args.jobs, clients=clients)


def choose_backend(backends: Mapping[str, Backend], listed: Sequence[str], name: str | None) -> Backend:
    """Return the backend of a name; without one, the only backend with a list of expected differences."""
    if name is None and len(listed) != 1:
        raise UsageError("which backend? give --backend", remedy=f"known backends: {', '.join(backends)}")
    return pick_backend(backends, name or listed[0])
