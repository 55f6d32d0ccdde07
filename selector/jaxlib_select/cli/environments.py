# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of the subcommands that look into an environment, or change it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from jaxlib_select.apply.installer import KINDS, indexes_in
from jaxlib_select.apply.plan import release_of
from jaxlib_select.choose.decision import Decision
from jaxlib_select.errors import UsageError
from jaxlib_select.facts import Facts, load_facts
from jaxlib_select.installed.environment import Environment, other_environment, this_environment
from jaxlib_select.versions import in_range

# Understood by uv and pip alike.
_INDEX_OPTIONS = ("--index-url", "--extra-index-url", "--find-links")


def add_python(parser: argparse.ArgumentParser) -> None:
    """Declare `--python`."""
    parser.add_argument(
        "--python",
        type=Path,
        metavar="PYTHON",
        help="interpreter of the environment (default: of the active virtual environment, else the one this runs in)",
    )


def add_installer(parser: argparse.ArgumentParser) -> None:
    """Declare the options for uv and pip."""
    parser.add_argument("--installer", choices=KINDS, help="default: uv if it is on PATH, else the environment's pip")
    parser.add_argument("--index-url", metavar="URL", help="package index to use instead of the configured one")
    parser.add_argument("--extra-index-url", metavar="URL", action="append", help="package index to use as well")
    parser.add_argument("--find-links", metavar="DIR", action="append", help="folder or page of wheels to use as well")
    parser.add_argument("--no-index", action="store_true", help="use no index, only --find-links")


def environment_from(args: argparse.Namespace) -> Environment:
    """Return the environment of `--python`, else the active one, else the one this runs in."""
    python = args.python or active_python(os.environ, Path(sys.prefix))
    return other_environment(python.absolute()) if python else this_environment()


def active_python(environ: Mapping[str, str], prefix: Path) -> Path | None:
    """Return the interpreter of the active virtual environment; this program may run in one of its own (pipx)."""
    active = environ.get("VIRTUAL_ENV", "")
    if not active or Path(active).resolve() == prefix.resolve():
        return None
    places = (Path(active) / "bin/python", Path(active) / "Scripts/python.exe")
    return next((place for place in places if place.exists()), None)


def options_from(args: argparse.Namespace) -> tuple[str, ...]:
    """Return what to say to the installer; folders become absolute."""
    found = ["--no-index"] if args.no_index else []
    for option in _INDEX_OPTIONS:
        values = getattr(args, option[2:].replace("-", "_")) or ()
        for value in [values] if isinstance(values, str) else values:
            found += [option, str(Path(value).absolute()) if Path(value).is_dir() else value]
    return tuple(found)


def index_warnings(decisions: Sequence[Decision], options: Sequence[str]) -> list[str]:
    """Return for which decisions the user's package indexes are not asked, as these are made for one of their own."""
    ignored = [] if "--no-index" in options else indexes_in(options)
    return [
        f"{decision.package} for {decision.backend} comes from {decision.index_url}, not from {', '.join(ignored)}"
        for decision in decisions
        if decision.index_url is not None and ignored
    ]


def facts_of(decisions: Sequence[Decision]) -> Facts:
    """Return the facts about the release of JAX that decisions are about, the newest if they are about none."""
    return next(_facts_of_each(decisions), None) or load_facts()


def _facts_of_each(decisions: Sequence[Decision]) -> Iterator[Facts]:
    for release in filter(None, map(release_of, decisions)):
        yield load_facts(release)


def check_python(decisions: Sequence[Decision], environment: Environment) -> None:
    """Raise a `UsageError` if the release does not run on an environment's Python: installers say that unclearly."""
    for facts in _facts_of_each(decisions):
        if facts.requires_python and not in_range(environment.version, facts.requires_python):
            version = ".".join(map(str, environment.version))
            raise UsageError(
                f"JAX {facts.release} needs Python {facts.requires_python}, {environment.python} is Python {version}",
                remedy="name the interpreter of another environment: --python PYTHON",
            )
