# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Prove the wheels of a folder on a Python of Debian that this machine lacks, or on an emulated processor.

All wheels are unpacked from outside, because pip takes minutes under an emulator. The programs run inside, at the
highest level available there. The proof enters the folder's release.json; that of an emulated machine says so.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from debian_root import ARCHITECTURES, DebianRoot, RootError, add_root_options, provide
from debian_tooling import add_python_option, create_venv_inside, provide_tooling
from debian_visit import REPOSITORY, Visit, plan_visit, run_inside
from pjrtwheel.backend import find_backend
from pjrtwheel.cli import add_options
from pjrtwheel.dist_folder import add_proofs
from pjrtwheel.environment.venv import python_tag_of, scratch_place, unpack_into
from pjrtwheel.errors import ProofError
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import hash_file, staging_folder
from pjrtwheel.program import program
from pjrtwheel.prove.inputs import load_inputs
from pjrtwheel.prove.proof_file import read_proof_file
from pjrtwheel.record.origin import find_origin
from pjrtwheel.record.proofs import Proof
from pjrtwheel.sets.finished_set import FinishedSet, find_set
from pjrtwheel.wheel.names import parse_name

_SLOW_IMPORTS = "jax.experimental.topologies, jax.numpy"


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be proven, and where.

    Attributes:
        root: The Debian root.
        folder: Where it is installed.
        visit: What is seen of this machine inside.
        python: The Python of the root, such as `python3.15`.
        wheels: The wheels to prove.
    """

    root: DebianRoot
    folder: Path
    visit: Visit
    python: str
    wheels: FinishedSet

    @property
    def dist(self) -> Path:
        """Folder of the plugin, whose record the proof enters."""
        return self.wheels.plugin.parent


def prove(order: Order) -> tuple[Mapping[str, Proof], Mapping[str, str]]:
    """Unpack the wheels, run the programs, and return proofs and sha256 by file name of the wheel.

    Raises:
        RootError: The root's Python does not start.
        ProofError: There is no `jaxlib` for it, the wheels do not install, or a program failed.
    """
    origin = find_origin(REPOSITORY, os.environ)
    tooling = provide_tooling(order.root, order.folder, order.visit, order.python)
    with staging_folder(scratch_place(cache_root(os.environ))) as scratch:
        environment = scratch / "venv"
        create_venv_inside(order.folder, order.visit, order.python, environment)
        wheels = unpack_wheels(order, environment)
        bindings = wheels[0].parent
        options = {"root": REPOSITORY, "release": order.wheels.release.version, "dist": order.dist}
        options |= {"backend": order.wheels.backend.name, "environment": environment}
        options |= {"set": order.wheels.bindings.version if bindings == order.dist else bindings}
        options |= {"proofs": scratch / "proofs.json", "signed-off-by": Path(__file__).name}
        # What the folder lacks, it does not record: the jaxlib may be somebody else's.
        digests = {wheel.name: hash_file(wheel) for wheel in wheels if (order.dist / wheel.name).is_file()}
        # Python's own compiler takes minutes under an emulator, longer than programs may; what it makes is kept.
        run_inside(order.folder, order.visit, [f"{environment}/bin/python", "-I", "-c", f"import {_SLOW_IMPORTS}"])
        command = [str(tooling), "-m", "pjrtwheel", "smoke", *(f"--{name}={value}" for name, value in options.items())]
        status = run_inside(order.folder, order.visit, command)
        if status != 0:
            raise ProofError(f"not proven on {order.python} of {order.root.suite} for {order.root.architecture}")
        proven = read_proof_file(scratch / "proofs.json", datetime.now(UTC)).wheels
    proofs = {found.wheel: replace(found.proof, origin=origin) for found in proven if found.wheel in digests}
    return proofs, digests


def unpack_wheels(order: Order, environment: Path) -> Sequence[Path]:
    """Install the wheels that fit an environment, and all that proving them needs; return these wheels.

    Raises:
        ProofError: There is no `jaxlib` among them, or something else is not available.
    """
    wheels = order.wheels.fetch_pair(python_tag_of(environment))
    inputs = load_inputs(REPOSITORY, order.wheels.release, order.wheels.backend)
    ours = [parse_name(wheel.name).requirement for wheel in wheels]
    folders = {wheel.parent for wheel in wheels}
    unpack_into(environment, order.root.platform, [*inputs.all_requirements, *ours], folders=sorted(folders))
    return wheels


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of this program's arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_root_options(parser)
    add_python_option(parser)
    parser.add_argument("--backend", required=True, metavar="NAME", help="the backend to prove")
    parser.add_argument("--dist", type=Path, default=REPOSITORY / "dist", metavar="DIR", help="folder of the wheels")
    add_options(parser, "--release", "--set")
    return parser


def read_order(argv: Sequence[str] | None) -> Order:
    """Read the arguments, and make the root where it is not there.

    Raises:
        RootError: That is not possible here.
        UsageError: There is no such folder, backend or release.
    """
    args = make_parser().parse_args(argv)
    backend, platform = find_backend(REPOSITORY, args.backend), ARCHITECTURES[args.architecture]
    dist, cache = args.dist.absolute(), cache_root(os.environ)
    wheels = find_set(REPOSITORY, dist, backend, platform, cache, release=args.release, where=args.set)
    published = [Path(args.set)] if args.set and Path(args.set).exists() else []
    read = [dist, *(path if path.is_dir() else path.parent for path in published)]
    visit = plan_visit(os.environ, write=(), read=read, here=REPOSITORY)
    root, folder = provide(args)
    return Order(root, folder, visit, args.python, wheels)


@program
def main(argv: Sequence[str] | None = None) -> int:
    """Prove and record, and return the exit status."""
    order = read_order(argv)
    proofs, digests = prove(order)
    unlisted = add_proofs(proofs, digests, order.dist)
    if unlisted:
        raise RootError(
            f"not recorded: {', '.join(unlisted)}", cause=f"{order.dist / 'release.json'} does not describe these files"
        )
    for name, proof in sorted(proofs.items()):
        print(f"{name}: {proof.describe_level()}, recorded in {order.dist / 'release.json'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
