# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`smoke`: prove finished wheels in clean environments; with `--backend` on this machine's accelerator."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from pjrtwheel.platforms import host_platform
from pjrtwheel.release import DEFAULT_RELEASE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pjrtwheel.prove.levels import PythonProof
    from pjrtwheel.prove.offline import Supply


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("wheels", nargs="*", type=Path, metavar="WHEEL", help="wheels of one set")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="root of the repository (default: here)")
    parser.add_argument("--release", default=DEFAULT_RELEASE, metavar="VERSION", help="JAX release")
    device = parser.add_argument_group(
        "on a device", "take the wheels of a backend from a folder, and run on its accelerator"
    )
    device.add_argument("--backend", metavar="NAME", help="the backend to prove")
    device.add_argument("--dist", type=Path, metavar="DIR", help="folder of the wheels (default: dist)")
    supply = device.add_mutually_exclusive_group()
    supply.add_argument(
        "--wheelhouse",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="folder of what the wheels need; given, no index is asked (repeatable)",
    )
    supply.add_argument(
        "--system-site-packages",
        action="store_true",
        help="see what is installed beside Python, and add our wheels only",
    )
    device.add_argument(
        "--xla", type=Path, metavar="PATH", help="plugin library of this machine, in place of the wheel's"
    )


def execute(args: argparse.Namespace) -> int:
    """Run every program on every Python that is here, and say what each showed."""
    from pjrtwheel.cli import check_repository
    from pjrtwheel.errors import ProofError, UsageError

    check_repository(args.root)
    if bool(args.backend) == bool(args.wheels):
        raise UsageError("smoke takes either wheels or --backend NAME", remedy="--backend finds the wheels in --dist")
    failed, ran = False, False
    for proof in _prove_on_device(args) if args.backend else _prove_wheels(args):
        print(f"{proof.python} {proof.interpreter}: {proof.summary()}, level {proof.level()}")
        for result in proof.results:
            print(f"  {result.program:<16}{result.outcome:<19}{result.seconds:6.1f} s  {result.detail}")
        for reason in proof.missed:
            print(f"  not shown: {reason}")
        failed |= bool(proof.failures())
        ran |= bool(proof.results)
    if not ran:
        raise ProofError("nothing was proven: no program ran", remedy="name the jaxlib wheel of the set as well")
    return ProofError.exit_code if failed else 0


def _prove_wheels(args: argparse.Namespace) -> Iterable[PythonProof]:
    """Prove the wheels that were named by the strongest means of this machine."""
    from pjrtwheel.backend import load_backends
    from pjrtwheel.cli import check_wheels
    from pjrtwheel.fetch.cache import cache_root
    from pjrtwheel.prove import environment, gather_material, prove_python
    from pjrtwheel.prove.interpreters import find_interpreters
    from pjrtwheel.release import load_release

    check_wheels(args.wheels)
    release = load_release(args.root, args.release)
    names = {environment.requirement_of(wheel).split("==")[0] for wheel in args.wheels}
    backend = next((b for b in load_backends(args.root).values() if b.distribution in names), None)
    material = gather_material(args.root, release, backend)
    for tag, interpreter in find_interpreters(release.pythons(host_platform().name)).items():
        yield prove_python(tag, interpreter, args.wheels, material, cache=cache_root(os.environ)).python


def _prove_on_device(args: argparse.Namespace) -> Iterable[PythonProof]:
    """Prove a backend's wheels on this machine's accelerator.

    Raises:
        ProofError: No Python of the release is here, or no device.
        UsageError: A wheel, a folder or the library is missing.
    """
    from pjrtwheel.backend import find_backend
    from pjrtwheel.errors import ProofError, UsageError
    from pjrtwheel.prove import gather_material, offline
    from pjrtwheel.prove.interpreters import find_interpreters
    from pjrtwheel.release import load_release

    release = load_release(args.root, args.release)
    backend = find_backend(args.root, args.backend)
    wheels = offline.find_wheels(args.dist or args.root / "dist", backend, release.version)
    for path in (*args.wheelhouse, *filter(None, [args.xla])):
        if not path.exists():
            raise UsageError(f"no such file or folder: {path}")
    material = gather_material(args.root, release, backend)
    found = find_interpreters(release.pythons(host_platform().name))
    pythons = [python for tag, python in found.items() if python and offline.can_prove(wheels, tag)]
    if not pythons:
        raise ProofError(
            f"no Python on this machine for which there is a jaxlib wheel (looked for {', '.join(found)})",
            remedy="install CPython 3.12 or newer, or build the jaxlib wheel for the one that is here",
        )
    for python in pythons:
        yield offline.prove_on_device(python, wheels, material, _supply(args), library=args.xla)


def _supply(args: argparse.Namespace) -> Supply:
    """Return where what the wheels need comes from."""
    from pjrtwheel.fetch.cache import cache_root
    from pjrtwheel.prove.offline import Folders, Index, Installed

    if args.system_site_packages:
        return Installed()
    return Folders(tuple(args.wheelhouse)) if args.wheelhouse else Index(cache_root(os.environ))
