# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`bundle`: one folder with all that builds and their proofs need, for machines without a network."""

import argparse
import sys
from pathlib import Path

from pjrtwheel.bundle.fill import choose_builds, fill_bundle
from pjrtwheel.environment.interpreters import find_interpreters, probe
from pjrtwheel.errors import UsageError
from pjrtwheel.fetch import WheelCache, cache_root, download_wheel
from pjrtwheel.platforms import PLATFORMS, find_platform, host_platform


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the bundle; an unfinished one is completed")
    for name, metavar, default in (
        ("--backend", "NAME", "all that have a library"),
        ("--release", "VERSION", "the newest that has the backend"),
        ("--platform", "NAME", f"that of this machine; {', '.join(PLATFORMS)}"),
        ("--python", "VERSION", "this one for tools, all here for proofs; also one of the other machine, such as 3.12"),
    ):
        parser.add_argument(name, action="append", default=[], metavar=metavar, help=f"default: {default}")


def execute(args: argparse.Namespace) -> int:
    """Fill a bundle, and say what is in it and what is not."""
    root, folder, host = args.root.resolve(), args.folder.resolve(), host_platform()
    platforms = [find_platform(name) for name in args.platform] or [host]
    builds = choose_builds(root, args.backend, args.release, platforms)
    tags = [f"cp{version.replace('.', '')}" for version in args.python]
    found = find_interpreters(tags or {tag for build in builds for tag in build.release.pythons(host.name)})
    if tags and (missing := [tag for tag, interpreter in found.items() if not interpreter]):
        raise UsageError(f"no Python {', '.join(missing)} on this machine", remedy="install it, or leave out --python")
    here = [interpreter for interpreter in found.values() if interpreter]
    own = probe(Path(sys.executable))
    tools = here if tags or not own else [own]
    cache = WheelCache(cache_root(), download_wheel)
    has_bazel = fill_bundle(root, folder, cache, builds=builds, tool_pythons=tools, proof_pythons=here)
    for build in builds:
        print(f"{folder}: {build.release.version} {build.backends[0].name} {build.platform.name}")
    files = [path for path in folder.rglob("*") if path.is_file()]
    print(f"{len(files)} files, {sum(path.stat().st_size for path in files) / 1e6:.1f} MB")
    if not has_bazel:
        print("not in it: Bazel; the other machine needs one of its own", file=sys.stderr)
    print(f"export PJRTWHEEL_BUNDLE={folder}")
    return 0
