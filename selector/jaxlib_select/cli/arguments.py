# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of several subcommands: which machine, which backend, and which environment to look into or change."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from jaxlib_select import variables
from jaxlib_select.apply.installer import KINDS, SOURCE_OPTIONS, Installer, find_installer, release_of, show
from jaxlib_select.choose.decision import Decision
from jaxlib_select.choose.policy import Policy, read_index, read_policy
from jaxlib_select.cli.terminal import say
from jaxlib_select.errors import MachineError, UsageError
from jaxlib_select.facts import OURS, PROVIDERS, UPSTREAM, Facts, load_facts
from jaxlib_select.installed.environment import (
    PLACES,
    Environment,
    judge_python,
    other_environment,
    this_environment,
)
from jaxlib_select.machine.detect import detect
from jaxlib_select.machine.file import parse_machine
from jaxlib_select.machine.model import Machine

_TOOLS = re.compile(r"[/\\](uv|pipx)[/\\]")  # in the environments that uvx and pipx make for a program
# Variables of uv and pip that add to the sources which are given; uv asks the default one's index instead.
_ADDING = re.compile(r"UV_(INDEX|EXTRA_INDEX_URL|FIND_LINKS|DEFAULT_INDEX)|PIP_(EXTRA_INDEX_URL|FIND_LINKS)")


def add_machine(parser: argparse.ArgumentParser) -> None:
    """Declare `--machine`."""
    parser.add_argument(
        "--machine", metavar="FILE", help="machine file of 'detect --json'; - is standard input (default: this machine)"
    )


def add_backend(parser: argparse.ArgumentParser) -> None:
    """Declare `--backend`."""
    parser.add_argument(
        "--backend",
        action="append",
        default=[],
        metavar="BACKEND",
        help="auto, cpu, prefer-gpu, require-gpu, or a name such as cuda12 or cuda12-local; "
        "PACKAGE=BACKEND for one package; may be repeated (default: environment variables, pyproject.toml, auto)",
    )


def machine_from(args: argparse.Namespace) -> Machine:
    """Return the machine of `--machine`, else this one; a `MachineError` if the file cannot be read."""
    if not args.machine:
        return detect()
    name: str = args.machine
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return parse_machine(data)
    except MachineError as error:
        raise MachineError(f"{name}: {error.what}", cause=error.cause, remedy=error.remedy) from error
    except OSError as error:
        raise MachineError(f"cannot read {name}", cause=error.strerror or str(error)) from error


def policy_from(args: argparse.Namespace) -> Policy:
    """Return what the user asks for, on the command line, in the environment and in pyproject.toml."""
    return replace(read_policy(args.backend, os.environ, _folder()), provider=provider_from(args))


def provider_from(args: argparse.Namespace) -> str:
    """Return whose wheels to install: ours if an index or folder is named, unless upstream's are requested."""
    return str(args.provider or (OURS if options_from(args) else UPSTREAM))


def _folder() -> Path | None:
    """Return the folder this runs in; None if it was deleted meanwhile."""
    try:
        return Path.cwd()
    except OSError:
        return None


def add_python(parser: argparse.ArgumentParser) -> None:
    """Declare `--python`."""
    place = "interpreter or folder of the environment (default: the active one, .venv, or the one of this program)"
    parser.add_argument("--python", type=Path, metavar="PYTHON", help=place)


def add_installer(parser: argparse.ArgumentParser) -> None:
    """Declare the options for uv and pip."""
    parser.add_argument("--installer", choices=KINDS, help="default: uv if it is on PATH, else the environment's pip")
    add_sources(parser)


def add_sources(parser: argparse.ArgumentParser) -> None:
    """Declare whose wheels are wanted, and where they are."""
    parser.add_argument(
        "--provider",
        choices=PROVIDERS,
        help="JAX's own wheels (upstream), or wheels built once for all Pythons (ours); "
        "default: ours if an index or a folder is named, else upstream",
    )
    index = "one package index, for JAX and all that it needs"
    parser.add_argument("--index", "--index-url", dest="index_url", metavar="URL", help=index)
    parser.add_argument("--find-links", metavar="DIR", action="append", help="also use this folder or page of wheels")
    parser.add_argument("--no-index", action="store_true", help="use no index, only --find-links")


def environment_from(args: argparse.Namespace) -> Environment:
    """Return the environment of `--python`, else the active one, else the one this runs in.

    uvx and pipx make one for this program alone: then it is `.venv` of the working directory or above, as uv takes it.

    Raises:
        UsageError: There is none.
    """
    python = args.python or active_python(os.environ, Path(sys.prefix))
    if python is None and (tool := _TOOLS.search(sys.prefix)):
        here = _folder() or Path()
        places = (folder / ".venv" / place for folder in (here, *here.parents) for place in PLACES)
        if (python := next((place for place in places if place.exists()), None)) is None:
            what = "no Python environment is active, and there is no folder .venv"
            remedy = "uv venv" if tool[1] == "uv" else "python3 -m venv .venv"
            raise UsageError(what, note="make one, or name one: --python PYTHON", remedy=remedy)
    return other_environment(python.absolute()) if python else this_environment()


def active_python(environ: Mapping[str, str], prefix: Path) -> Path | None:
    """Return the interpreter of the active virtual environment; this program may run in one of its own (pipx)."""
    active = environ.get("VIRTUAL_ENV", "")
    if not active or Path(active).resolve() == prefix.resolve():
        return None
    return next((python for place in PLACES if (python := Path(active) / place).exists()), None)


def options_from(args: argparse.Namespace) -> tuple[str, ...]:
    """Return the options of the installer; folders become absolute.

    Without options, it is the index that the environment or pyproject.toml names, unless upstream's are requested.
    """
    if args.provider != UPSTREAM and not (args.no_index or args.index_url or args.find_links):
        index = read_index(os.environ, _folder())
        return ("--index-url", index) if index else ()
    found = ["--no-index"] if args.no_index else []
    for option in SOURCE_OPTIONS[:-1]:
        values = getattr(args, option[2:].replace("-", "_")) or ()
        for value in [values] if isinstance(values, str) else values:
            found += [option, str(Path(value).absolute()) if Path(value).is_dir() else value]
    return tuple(found)


def installer_from(args: argparse.Namespace, environment: Environment) -> Installer:
    """Return uv or pip with the given indexes and folders, and warn of variables that add others."""
    sources = options_from(args)
    if not sources and args.provider == OURS:  # anybody can register their names on a public index
        remedy = f"name an index: --index URL or {variables.INDEX}=URL, or a folder: --find-links DIR"
        raise UsageError("no index or folder is named for these wheels", remedy=remedy)
    installer = replace(find_installer(environment, os.environ, kind=args.installer), sources=sources)
    for name, value in os.environ.items() if sources else ():
        if value and _ADDING.fullmatch(name) and name.startswith(installer.kind.upper()):
            say(f"warning: {name} adds a package index")
    return installer


def check_command(environment: Environment) -> str:
    """Return the command that shows which devices JAX uses in an environment."""
    return show([str(environment.python), "-c", "import jax; print(jax.devices())"])


def facts_of(decisions: Sequence[Decision]) -> Iterator[Facts]:
    """Yield the facts about each release of JAX that decisions are about."""
    for release in filter(None, map(release_of, decisions)):
        yield load_facts(release)


def check_python(decisions: Sequence[Decision], environment: Environment) -> None:
    """Raise a `UsageError` if a release does not run on an environment's Python: installers say that unclearly."""
    for facts in facts_of(decisions):
        if (error := judge_python(environment, facts)) is not None:
            raise error
