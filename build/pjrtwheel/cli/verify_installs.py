# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`verify_installs`: install a release from a stage as users do, and start JAX."""

import argparse
from pathlib import Path
from typing import Any

from pjrtwheel.abis import choose_pythons
from pjrtwheel.backend import find_backend, load_backends
from pjrtwheel.environment.interpreters import find_interpreters
from pjrtwheel.errors import ProofError
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import write_atomically
from pjrtwheel.installs.stage import check_staged, open_stage, read_set
from pjrtwheel.installs.tries import INSTALLERS, InstallOutcome, describe_skips, list_combinations, sum_up, try_all
from pjrtwheel.platforms import host_platform
from pjrtwheel.program import require_text
from pjrtwheel.release_check.check import warn_of_names
from pjrtwheel.sets.promised import list_promised
from pjrtwheel.tables import write_json


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    stage = "the stage: a simple index, or a folder with wheels or with what `publish folder` wrote"
    parser.add_argument("--index", type=require_text, required=True, metavar="URL|FOLDER", help=stage)
    several: dict[str, Any] = {"action": "append", "default": [], "type": require_text}
    parser.add_argument("--backend", **several, metavar="NAME", help="backend to install; default: all at the stage")
    parser.add_argument("--python", **several, metavar="VERSION", help="Python to use, such as 3.13; default: all")
    parser.add_argument("--installer", **several, choices=INSTALLERS, help="default: uv and pip")
    parser.add_argument("--vendor-wheels", action="store_true", help="also download the vendors' libraries (gigabytes)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results to this file")


def execute(args: argparse.Namespace) -> int:
    """Try all combinations; the status is that of a failed proof if one failed, or none could run.

    Each that was tried has a line, and each reason for which others were skipped. Nothing is tried at a stage that
    lacks a backend that was asked for, or a wheel that the release file of its set promises.
    """
    known = load_backends(args.root)
    backends = [find_backend(args.root, name) for name in args.backend] or list(known.values())
    stage = open_stage(args.index)
    distributions = [name for backend in backends for name in backend.distributions]
    staged = read_set(stage, distributions, args.release, host_platform())
    pythons = choose_pythons(staged.pythons, args.python)
    combinations = list_combinations(pythons, backends, args.installer or INSTALLERS)
    asked = [backend.distribution for backend in backends] if args.backend else []
    promised = list_promised(args.root, staged.version, backends, host_platform())
    warn_of_names(args.root, {file.sha256 for file in staged.wheels.values()})
    chosen = pythons if args.python else ()
    check_staged(staged, [name for name in promised if not chosen or any(map(name.fits, chosen))], asked)
    where = {"vendor_wheels": args.vendor_wheels, "cache": cache_root()}
    results = []
    for result in try_all(combinations, known, stage, staged, find_interpreters(pythons), **where):
        results.append(result)
        if result.outcome is not InstallOutcome.SKIPPED:
            detail = result.detail.replace("\n", "\n        ")
            print(f"{result.outcome:<7} {result.combination.describe()}: {detail}", flush=True)
    for line in describe_skips(results):
        print(line)
    print(f"{staged.version} from {stage.where}: {sum_up(results)}")
    if args.json:
        write_atomically(args.json, write_json(results))
    outcomes = {result.outcome for result in results}
    if outcomes <= {InstallOutcome.SKIPPED}:
        remedy = "install one of these Pythons, or choose others with --backend, --python and --vendor-wheels"
        raise ProofError("nothing was installed: all was skipped", remedy=remedy)
    return ProofError.exit_code if InstallOutcome.FAILED in outcomes else 0
