# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments that several subcommands have: which machine, and which backend."""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from jaxlib_select.choose.policy import Policy, read_policy
from jaxlib_select.choose.resolve import is_package, pick_version, split_package
from jaxlib_select.errors import MachineError, UsageError
from jaxlib_select.machine.detect import detect
from jaxlib_select.machine.file import LARGEST, parse_machine
from jaxlib_select.machine.model import Machine

_JAX = {"jax", "jaxlib"}


def add_machine(parser: argparse.ArgumentParser) -> None:
    """Declare `--machine`."""
    parser.add_argument(
        "--machine",
        metavar="FILE",
        help="a description that 'detect --json' wrote, - for standard input (default: this machine)",
    )


def add_backend(parser: argparse.ArgumentParser) -> None:
    """Declare `--backend`."""
    parser.add_argument(
        "--backend",
        nargs="+",
        action="append",
        default=[],
        metavar="BACKEND",
        help="auto, cpu, prefer-gpu, require-gpu, or a name such as cuda12 or cuda12-local; "
        "PACKAGE=BACKEND for one package (default: the environment, then pyproject.toml, then auto)",
    )


def add_release(parser: argparse.ArgumentParser) -> None:
    """Declare `--release`."""
    parser.add_argument("--release", default="", metavar="VERSION", help="release of JAX (default: the newest known)")


def packages_from(args: argparse.Namespace) -> list[str]:
    """Return the packages that are asked for, those of JAX in the release that is.

    Raises:
        FactsError: Nothing is known about that release.
        UsageError: No package is of JAX, or the bounds on one contradict the release.
    """
    if not args.release:
        return list(args.packages)
    about_jax = [package for package in args.packages if split_package(package)[0] in _JAX]
    if args.packages and not about_jax:
        what = f"--release {args.release} is a release of JAX, and none of the packages is: {', '.join(args.packages)}"
        raise UsageError(what, remedy="expected PACKAGE==VERSION")
    pinned = {package: "==".join(pick_version(package, args.release)) for package in about_jax}
    return [pinned.get(package, package) for package in args.packages]


def set_packages_apart(words: Sequence[str]) -> list[str]:
    """Return a command line in which no package is among the values of `--backend`, which takes several.

    >>> set_packages_apart(["--backend", "cuda12", "torch=cpu", "jax", "--json"])
    ['--backend=cuda12', '--backend=torch=cpu', 'jax', '--json']
    """
    arranged: list[str] = []
    rest = list(words)
    while "--backend" in rest:
        place = rest.index("--backend")
        values = list(itertools.takewhile(lambda word: not word.startswith("-"), rest[place + 1 :]))
        packages = [word for word in values[1:] if is_package(word)]
        arranged += rest[:place]
        arranged += [word if word in packages else f"--backend={word}" for word in values] or ["--backend"]
        rest = rest[place + 1 + len(values) :]
    return arranged + rest


def machine_from(args: argparse.Namespace) -> Machine:
    """Return the machine of `--machine`, else this one; a `MachineError` if the file cannot be read."""
    if not args.machine:
        return detect()
    name: str = args.machine
    if name == "-" and sys.stdin is None:
        raise MachineError("cannot read standard input", cause="it is closed")
    try:
        if name == "-":
            data = sys.stdin.buffer.read(LARGEST + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(LARGEST + 1)
        return parse_machine(data.decode("utf-8"))
    except MachineError as error:
        raise MachineError(f"{name}: {error.what}", cause=error.cause, remedy=error.remedy) from error
    except OSError as error:
        raise MachineError(f"cannot read {name}", cause=error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise MachineError(f"not a machine description: {name}", cause=str(error)) from error


def policy_from(args: argparse.Namespace) -> Policy:
    """Return what the user asks for, on the command line, in the environment and in pyproject.toml."""
    given = [value for values in args.backend for value in values]
    return read_policy(given, os.environ, _folder())


def _folder() -> Path | None:
    """Return the folder this runs in; nothing if it was deleted meanwhile."""
    try:
        return Path.cwd()
    except OSError:
        return None
