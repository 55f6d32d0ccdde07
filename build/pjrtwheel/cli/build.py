# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m pjrtwheel build BACKEND...`: from release pins to finished wheels in `dist/`."""

import argparse
import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path

from pjrtwheel.abis import choose_pythons, name_python, name_pythons
from pjrtwheel.backend import load_backends, pick_backend
from pjrtwheel.bazel.invoke import BuildRequest
from pjrtwheel.bazel.source import SourceOptions, check_source
from pjrtwheel.build import build, parse_provider, promised_wheels
from pjrtwheel.cli import find_links
from pjrtwheel.dist_folder.printing import print_wheels
from pjrtwheel.environment.interpreters import find_interpreters
from pjrtwheel.errors import UsageError, fit
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import display_path
from pjrtwheel.platforms import PLATFORMS, Platform, find_platform, host_platform
from pjrtwheel.products import facts
from pjrtwheel.program import require_text
from pjrtwheel.progress import format_time, open_progress
from pjrtwheel.record.origin import describe_changes
from pjrtwheel.release.known import choose_release, give_label, load_release
from pjrtwheel.release.model import Release
from pjrtwheel.release.wheels import make_lock
from pjrtwheel.sets.published import PublishedSet, choose_set, fetch_set, find_offer
from pjrtwheel.wheel.compress import DEFAULT_COMPRESSION, HIGHEST_COMPRESSION


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "backends", nargs="*", metavar="BACKEND", help="a directory of plugins/ that has a backend.toml"
    )
    parser.add_argument("--all", action="store_true", help="build every backend for which the release has a library")
    parser.add_argument("--bindings-only", action="store_true", help="build only the jaxlib wheels")
    parser.add_argument("--platform", help=f"{', '.join(PLATFORMS)} (default: that of this machine)")
    parser.add_argument(
        "--xla", default="prebuilt", metavar="prebuilt|source|PATH", help="origin of the library (default: prebuilt)"
    )
    source = parser.add_argument_group("with --xla source and --label")
    source.add_argument("--xla-commit", default="", metavar="COMMIT", help="another commit of openxla/xla")
    source.add_argument("--xla-tree", type=Path, metavar="DIR", help="a tree of XLA on this disk, as it is")
    source.add_argument(
        "--xla-patch", type=Path, action="append", default=[], metavar="FILE", help="a patch to XLA; may be given again"
    )
    source.add_argument("--chips", default="", metavar="LIST", help="what to compile for, such as sm_80,sm_87")
    source.add_argument("--debug-symbols", action="store_true", help="libraries with symbols and line numbers")
    source.add_argument(
        "--bazel-option", action="append", default=[], metavar="OPTION", help="for bazel build; may be given again"
    )
    levels = range(1, HIGHEST_COMPRESSION + 1)
    compression = f"compression, 1 to {HIGHEST_COMPRESSION} (default: {DEFAULT_COMPRESSION})"
    parser.add_argument("--level", dest="compression", type=int, choices=levels, metavar="N", help=compression)
    plugin = "build one plugin for a published set of wheels, without its jaxlib"
    parser.add_argument("--set", type=require_text, metavar="FOLDER|URL|VERSION", help=plugin)
    pythons = "those to build jaxlib and kernels for, such as 3.12,3.14t, or all (default: those on this machine)"
    parser.add_argument("--python", metavar="all|VERSIONS", help=pythons)
    parser.add_argument("--no-smoke", action="store_true", help="do not prove the wheels in clean environments")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep wheels and record here if a proof fails")
    parser.add_argument("--verbose", action="store_true", help="also list repairs and proofs of each wheel")


def execute(args: argparse.Namespace) -> int:
    """Build, and print one table of the wheels that were built."""
    if sum(map(bool, (args.backends, args.all, args.bindings_only))) != 1:
        raise UsageError("name backends, or say --all or --bindings-only")
    if args.set and args.label:
        raise UsageError("--label is for a set that is built here, --set for one that has a label")
    if args.set and args.bindings_only:
        raise UsageError("--set is for a plugin: the jaxlib of a published set is not built again")
    provider, library = parse_provider(args.xla)
    if args.bindings_only and provider != "prebuilt":
        raise UsageError(
            f"--xla {args.xla} is for a backend's library, and jaxlib alone has none",
            remedy="build a backend; jaxlib from source comes with it: add --bazel-option=--config=xla_bindings",
        )
    source = _read_source(args)
    check_source(source, provider, args.label)
    root = args.root.resolve()
    writable = root if os.access(root, os.W_OK) else Path.cwd()
    dist = (args.dist or writable / "dist").resolve()
    backends = load_backends(root)
    chosen = list({(found := pick_backend(backends, name)).name: found for name in args.backends}.values())
    platform = find_platform(args.platform) if args.platform else host_platform()
    cache = cache_root()
    published = _find_set(root, args, platform, cache) if args.set else None
    if published:
        release = load_release(root, published.lock.release)
    else:
        release = choose_release(root, args.release, platform.name, *(backend.name for backend in chosen))
        release = give_label(release, args.label)
    if args.all:
        chosen = [backend for backend in backends.values() if platform.name in release.platforms(backend.name)]
    request = BuildRequest(
        root=root,
        release=release,
        backends=tuple(chosen),
        platform=platform,
        provider=provider,
        library=library,
        with_bindings=published is None,
        lock=published.lock if published else None,
        assemble_options=() if args.compression is None else (f"--level={args.compression}",),
        pythons=_choose_pythons(args, release, platform),
        source=source,
    )
    if args.label:
        request = replace(request, lock=make_lock(release, request.provider_name))
    unknown = facts.find_unknown(root, release.version, chosen)  # damaged facts are said before it takes long
    changes = describe_changes(root)  # at once, as `build` looks: while it builds, the repository may move on
    with open_progress() as progress:
        if request.pythons and not args.python:
            progress.say(f"jaxlib for Python {fit(map(name_python, request.pythons))}, found here; all: --python all")
        entries = build(
            request,
            tuple(backends.values()),
            dist=dist,
            cache=cache,
            keep=args.keep,
            smoke_tests=not args.no_smoke,
            bindings=published.bindings if published else (),
            progress=progress,
        )
    print_wheels(entries, dist, built=promised_wheels(request), details=args.verbose)
    print(f"total time: {format_time(progress.clock() - progress.started)}", file=sys.stderr)
    if unknown:
        remedy = f"./noxw facts --release {release.version}{f' --label {args.label}' if args.label else ''}"
        print(f"jaxlib-select knows no {', '.join(unknown)} of {release.version} yet: {remedy}", file=sys.stderr)
    print("\n".join(filter(None, (changes, describe_next(request, dist, args.set)))))
    return 0


def _read_source(args: argparse.Namespace) -> SourceOptions:
    """Return the options of a build from source."""
    tree, patches = args.xla_tree and args.xla_tree.resolve(), tuple(path.resolve() for path in args.xla_patch)
    chips = tuple(args.chips.split(",")) if args.chips else ()
    return SourceOptions(args.xla_commit, tree, patches, chips, args.debug_symbols, tuple(args.bazel_option))


def _choose_pythons(args: argparse.Namespace, release: Release, platform: Platform) -> tuple[str, ...]:
    """Return the Pythons to build for; none if that is all of the release."""
    known = release.pythons(platform.name)
    if args.python == "all" or (not args.python and (args.all or args.set or platform != host_platform())):
        return ()
    if not args.python:
        return tuple(tag for tag, found in find_interpreters(known).items() if found)
    return choose_pythons(known, args.python.split(","), f"jaxlib {release.version} on {platform.name}")


def describe_next(request: BuildRequest, dist: Path, published: str | None) -> str:
    """Return a line with the command that installs a backend for this machine, or else the one that makes an index.

    It says which Pythons the wheels are for: the one that builds may be older.
    """
    if len(request.backends) != 1 or request.platform != host_platform():
        return "next: " + shlex.join(["./noxw", "index", "--dist", display_path(dist)])
    (backend,) = request.backends
    version = request.lock.version if request.lock else request.release.set_version
    pythons = name_pythons(request.pythons or request.release.pythons(request.platform.name))
    words = ["pip", "install", "--find-links", display_path(dist), *find_links(published)]
    words += [f"jax=={request.release.version}", f"{backend.requirement}=={version}"]
    return f"next (in an environment with Python {pythons}; with uv: uv pip): {shlex.join(words)}"


def _find_set(root: Path, args: argparse.Namespace, platform: Platform, cache: Path) -> PublishedSet:
    """Find the set that is asked for, with a `jaxlib` for each Python of this machine that proofs will run on."""
    chosen = choose_set(find_offer(args.set, cache), args.release, platform)
    pythons = load_release(root, chosen.name.release).pythons(platform.name)
    proving = not args.no_smoke and platform == host_platform()
    here = [tag for tag, found in find_interpreters(pythons).items() if found] if proving else []
    print(f"building for the set {chosen.name.version} of {args.set}", file=sys.stderr, flush=True)
    return fetch_set(chosen, here)
