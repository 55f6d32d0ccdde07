# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`bundle`: one folder with all that builds and their proofs need, for machines without a network."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from pjrtwheel.cli import add_options
from pjrtwheel.environment.interpreters import Interpreter, find_interpreters, probe
from pjrtwheel.errors import UsageError
from pjrtwheel.platforms import PLATFORMS

_OLDEST_TOOLS = 11


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the bundle; a folder that was begun is finished")
    parser.add_argument("--check", action="store_true", help="hold its files to bundle.json, and make nothing")
    parser.add_argument(
        "--backend", action="append", default=[], metavar="NAME", help="default: all that have a library"
    )
    parser.add_argument(
        "--release", action="append", default=[], metavar="VERSION", help="default: the newest that has the backend"
    )
    parser.add_argument(
        "--platform", action="append", default=[], help=f"{', '.join(PLATFORMS)} (default: that of this machine)"
    )
    parser.add_argument(
        "--python",
        action="append",
        default=[],
        metavar="VERSION",
        help="of the other machine, such as 3.12 (default: for tools this one, for proofs all that are here)",
    )
    add_options(parser, "--root")


def execute(args: argparse.Namespace) -> int:
    """Make a bundle or check one, and say what is in it."""
    folder = args.folder.resolve()
    return _check(folder) if args.check else _make(folder, args)


def _check(folder: Path) -> int:
    from pjrtwheel.bundle.check import COPY_AGAIN, list_problems, raise_problems
    from pjrtwheel.bundle.manifest import read_manifest

    manifest = read_manifest(folder)
    raise_problems(folder, list_problems(folder, manifest.files), COPY_AGAIN)
    print(f"{folder}: {len(manifest.files)} files, all as bundle.json lists them; commit {manifest.commit}")
    return 0


def _make(folder: Path, args: argparse.Namespace) -> int:
    from pjrtwheel.bundle.make import BundleRequest, make_bundle, summarize
    from pjrtwheel.bundle.manifest import MANIFEST
    from pjrtwheel.bundle.plan import choose_builds
    from pjrtwheel.fetch import WheelCache, cache_root, download_wheel
    from pjrtwheel.files import hash_file
    from pjrtwheel.platforms import find_platform, host_platform

    host = host_platform()
    platforms = [find_platform(name) for name in args.platform] or [host]
    root = args.root.resolve()
    builds = choose_builds(root, args.backend, args.release, platforms, host)
    tools, here = _find_pythons(args.python, [tag for build in builds for tag in build.release.pythons(host.name)])
    request = BundleRequest(root, builds, host, tools, here)
    manifest = make_bundle(request, folder, WheelCache(cache_root(os.environ), download_wheel))
    print(f"{folder}: {', '.join(manifest.wheels)}; commit {manifest.commit[:12]}")
    print("\n".join(summarize(manifest)))
    print(f"sha256 of {MANIFEST}: {hash_file(folder / MANIFEST)}")
    return 0


def _find_pythons(
    versions: Sequence[str], releases: Iterable[str]
) -> tuple[tuple[Interpreter, ...], tuple[Interpreter, ...]]:
    """Return the interpreters that tools are for, and those that wheels may be proven on.

    They are of the named versions. Without any, the tools are for the Python that runs this, and proofs for those of
    the releases, by ABI tag, that are installed here.

    Raises:
        UsageError: One that was named is not here, or none of them is new enough for the tools.
    """
    tags = [_tag(version) for version in versions]
    found = find_interpreters(dict.fromkeys(tags or releases))
    here = tuple(interpreter for interpreter in found.values() if interpreter)
    if missing := [version for version, tag in zip(versions, tags, strict=True) if not found[tag]]:
        raise UsageError(
            f"no Python {', '.join(missing)} on this machine",
            cause="it is asked what its environments need",
            remedy="install it here, or leave out --python",
        )
    candidates = here if tags else (probe(Path(sys.executable)),)
    tools = tuple(entry for entry in candidates if entry and int(entry.tag[3:].rstrip("t")) >= _OLDEST_TOOLS)
    if not tools:
        raise UsageError(
            f"no tools run on Python {', '.join(versions)}", remedy=f"name one from 3.{_OLDEST_TOOLS} on with --python"
        )
    return tools, here


def _tag(version: str) -> str:
    """Return the ABI tag of a Python by its version.

    >>> _tag("3.12")
    'cp312'
    """
    major, _, minor = version.partition(".")
    if major != "3" or not minor.removesuffix("t").isdigit():
        raise UsageError(f"no version of Python: {version!r}", remedy="expected one such as 3.12")
    return f"cp3{minor}"
