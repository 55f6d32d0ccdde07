# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`matrix` and `tag`: what workflows of GitHub ask, in the form in which these read it."""

import argparse
import dataclasses
import json
from collections.abc import Collection

from pjrtwheel.backend import load_backends
from pjrtwheel.errors import UsageError
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.program import require_text
from pjrtwheel.release.known import list_releases, load_release
from pjrtwheel.sets.tags import find_project, find_tagged
from pjrtwheel.workflows import BINDINGS_ALONE, list_jobs, read_machines


def configure_parser_matrix(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--release", metavar="VERSION", help="only this JAX release (default: all in releases/)")
    only.add_argument(
        "--once", action="store_true", help="each backend and platform once, from the newest release that has it"
    )
    for name, example in (("backends", "cpu cuda13"), ("platforms", "linux_x86_64")):
        parser.add_argument(
            f"--{name}", metavar="NAMES", default="", help=f"only these, in one argument such as '{example}'"
        )
    parser.add_argument(
        "--accelerators", metavar="JSON", default="", help="labels of the runner with the hardware, by backend"
    )


def execute_matrix(args: argparse.Namespace) -> int:
    """Print `workflows.Jobs`, which documents the keys, as one JSON object."""
    versions = [args.release] if args.release else list_releases(args.root)
    releases = [load_release(args.root, version) for version in versions]
    backends = tuple(load_backends(args.root).values())
    machines = read_machines(args.accelerators, backends)
    names = _names("backends", args.backends, (*(backend.name for backend in backends), BINDINGS_ALONE))
    platforms = _names("platforms", args.platforms, PLATFORMS)
    jobs = list_jobs(releases, backends, once=args.once, names=names, platforms=platforms, machines=machines)
    if not jobs.wheels:  # GitHub refuses a job with an empty matrix, and would not say why
        wanted = " ".join(filter(None, (args.backends, args.platforms)))
        cause = f"no wheels for: {', '.join(versions) or 'no release'}{f' ({wanted})' if wanted else ''}"
        raise UsageError("there is nothing to build", cause=cause)
    print(json.dumps(dataclasses.asdict(jobs)))
    return 0


def _names(option: str, text: str, known: Collection[str]) -> frozenset[str]:
    """Return the names in an argument; raise a `UsageError` for one that nothing has."""
    names = frozenset(text.split())
    if unknown := names.difference(known):
        raise UsageError(
            f"--{option}: nothing is called {', '.join(sorted(unknown))}", remedy=f"known: {', '.join(known)}"
        )
    return names


def configure_parser_tag(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("tag", type=require_text, metavar="TAG", help="such as v0.12.0.1+split.1 or select-v0.1.0")


def execute_tag(args: argparse.Namespace) -> int:
    """Print `release=`, empty for what belongs to none, and `artifact=`, what CI uploads or the command builds."""
    release = find_tagged(args.root, args.tag)
    version, artifact = (release.version, f"release-{release.version}") if release else ("", find_project(args.tag))
    print(f"release={version}\nartifact={artifact}")
    return 0
