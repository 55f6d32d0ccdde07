# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`smoke`: prove finished wheels in clean environments."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from pjrtwheel.platforms import host_platform
from pjrtwheel.release import DEFAULT_RELEASE


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("wheels", nargs="+", type=Path, metavar="WHEEL", help="wheels of one set")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="root of the repository (default: here)")
    parser.add_argument("--release", default=DEFAULT_RELEASE, metavar="VERSION", help="JAX release")


def execute(args: argparse.Namespace) -> int:
    """Run every smoke program on every Python that is here, and say what each showed."""
    from pjrtwheel.backend import load_backends
    from pjrtwheel.cli import check_repository, check_wheels
    from pjrtwheel.errors import ProofError
    from pjrtwheel.fetch.cache import cache_root
    from pjrtwheel.prove import environment, prove_python, smoke
    from pjrtwheel.prove.interpreters import find_interpreters
    from pjrtwheel.release import load_release

    check_repository(args.root)
    check_wheels(args.wheels)
    release = load_release(args.root, args.release)
    requirements = [f"jax=={release.version}", *environment.requirement_group(args.root, "smoke")]
    names = {environment.requirement_of(wheel).split("==")[0] for wheel in args.wheels}
    backend = next((b for b in load_backends(args.root).values() if b.distribution in names), None)
    failures = 0
    for tag, interpreter in find_interpreters(release.pythons(host_platform().name)).items():
        proof = prove_python(
            tag,
            interpreter,
            args.wheels,
            smoke.find_programs(args.root),
            requirements,
            backend=backend,
            cache=cache_root(os.environ),
        )
        print(f"{proof.python} {proof.interpreter}: {proof.summary()}, level {proof.level()}")
        for result in proof.results:
            print(f"  {result.program:<16}{result.outcome:<9}{result.seconds:6.1f} s  {result.detail}")
        failures += len(proof.failures())
    return ProofError.exit_code if failures else 0
