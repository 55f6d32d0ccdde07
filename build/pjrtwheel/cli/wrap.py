# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`wrap`: a plugin wheel of a library, without a clone, Bazel or a compiler."""

import argparse
import shlex
import shutil
import sys
import tempfile
from dataclasses import fields
from pathlib import Path
from typing import Any

from pjrtwheel.cli import check_files, find_links
from pjrtwheel.errors import UsageError, describe_size
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.fetch.listing import list_wheels
from pjrtwheel.fetch.settings import read_settings
from pjrtwheel.files import display_path
from pjrtwheel.pin.choose import find_named, offered_versions
from pjrtwheel.platforms import Platform, find_platform, this_platform
from pjrtwheel.probe.plugin import open_library
from pjrtwheel.program import require_text
from pjrtwheel.release.known import is_version, list_releases, newest_release, version_order
from pjrtwheel.release.wheels import ReleaseLock
from pjrtwheel.sets import BINDINGS
from pjrtwheel.sets.published import choose_set, fetch_set, find_offer
from pjrtwheel.tables import TableError, read_json
from pjrtwheel.wrap import Vendor, wrap, write_backend

_FOR = "upstream|VERSION|OLDEST..NEWEST"


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("library", type=Path, metavar="LIBRARY", help="the PJRT plugin, such as foo_pjrt.so")
    parser.add_argument("--name", required=True, help="JAX's name of the platform, such as foo")
    jaxlib = parser.add_mutually_exclusive_group(required=True)
    jaxlib.add_argument(
        "--for", dest="target", metavar=_FOR, help="upstream's jaxlib: the newest known release, or the releases named"
    )
    ours = "the jaxlib of one of our published sets"
    jaxlib.add_argument("--set", type=require_text, metavar="FOLDER|URL|VERSION", help=ours)
    parser.add_argument(
        "--dist", type=Path, default=Path("dist"), metavar="DIR", help="folder of the wheel (default: dist)"
    )
    parser.add_argument("--save", type=Path, metavar="DIR", help="keep the backend's directory, such as plugins/foo")
    parser.add_argument("--device", default="", metavar="PATTERN", help="its device files, such as '/dev/foo*'")
    parser.add_argument("--options", type=json_object, default={}, metavar="FILE", help="client options, in JSON")
    parser.add_argument("--license", default="", metavar="EXPRESSION", help="licence of the library, in SPDX's form")
    files: dict[str, Any] = {"dest": "license_files", "action": "append", "type": Path, "default": []}
    parser.add_argument("--license-file", **files, metavar="FILE", help="text of the licence; may be given again")
    parser.add_argument("--author", default="", help="who makes the wheel, such as 'Foo Inc. <jax@foo.example>'")
    parser.add_argument("--url", default="", help="home page")


def execute(args: argparse.Namespace) -> int:
    """Write the wheel, one line for each step, and say what installs it."""
    check_files([args.library, *args.license_files], "libraries", "*.so")
    if args.save and args.save.exists():
        raise UsageError(f"{args.save} exists", remedy="name a new directory with --save, or remove this one")
    vendor = Vendor(**{entry.name: getattr(args, entry.name) for entry in fields(Vendor)})
    with tempfile.TemporaryDirectory(prefix="wrap-") as name:
        scratch = Path(name)
        folder = scratch / "plugins" / (args.save or Path(args.name)).name
        backend = write_backend(args.root, folder, args.library, vendor)
        ((platform, tag),) = backend.tags.items()
        _say("library", f"{args.library.name}, {describe_size(args.library.stat().st_size)}, {tag}")
        lock = _choose_lock(args, find_platform(platform))
        _say("jaxlib", f"{lock.requirement}, {f'lock {lock.lock_id}' if lock.lock_id else 'that of upstream'}")
        path, report = wrap(args.root, backend, args.library, lock, args.dist, scratch)
        if args.save:
            shutil.copytree(folder, args.save)
    _say("wheel", f"{display_path(path.absolute())}, {describe_size(report.size)}")
    if not args.license:
        _say("licence", "not stated: --license says that of the library, --license-file has its text")
    if not args.device:
        _say("device", "not asked for: without its device JAX would not start; --device says which files it has")
    if platform == this_platform().name and (reason := open_library(args.library)):
        _say("warning", f"it does not open here: {reason}")
    words = ["pip", "install", *find_links(args.set), f"jax=={lock.version.partition('+')[0]}"]
    print("next (with uv: uv pip): " + shlex.join([*words, display_path(path.absolute())]))
    return 0


def json_object(text: str) -> dict[str, Any]:
    """Read the file that an argument names, for a parser."""
    check_files([Path(text)], "options", "*.json")
    try:
        return read_json(dict[str, Any], Path(text).read_text("utf-8"))
    except TableError as error:
        raise argparse.ArgumentTypeError(f"{text}: {error}") from error


def _choose_lock(args: argparse.Namespace, platform: Platform) -> ReleaseLock:
    """Return the lock of the set that is asked for, or one of no set for upstream's jaxlib."""
    if args.set:
        return fetch_set(choose_set(find_offer(args.set, cache_root()), args.release, platform), []).lock
    text = newest_release(args.root) if args.target == "upstream" else args.target
    oldest, _, newest = text.partition("..")
    newest = newest or oldest
    if not is_version(oldest) or not is_version(newest) or version_order(oldest) > version_order(newest):
        raise UsageError(f"no release of jaxlib: {args.target!r}", remedy=f"--for takes {_FOR}, as 0.11.2..0.12.0.1")
    # As jaxlib spells its version, which the plugin compares with it.
    named = {version: version for version in list_releases(args.root)}
    for version in {oldest, newest}.difference(named):
        named[version] = find_named(version, offered_versions(list_wheels(BINDINGS, read_settings())))
    return ReleaseLock(named[oldest], named[newest], 0, "file", "")


def _say(what: str, text: str) -> None:
    print(f"{what:<9}{text}", file=sys.stderr, flush=True)
