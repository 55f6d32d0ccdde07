# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`index`: write a static package index of finished wheels."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

from pjrtwheel.cli import add_options
from pjrtwheel.console import print_text
from pjrtwheel.errors import UsageError, count
from pjrtwheel.files import display_path, write_atomically
from pjrtwheel.products.index import write_joint_index
from pjrtwheel.products.index.projects import WheelFolder, find_unlisted
from pjrtwheel.products.index.release_pages import MAIN_PAGE
from pjrtwheel.publish.yanked import YANKED_FILE, find_reasons, read_yanked
from pjrtwheel.record.entries import read_entries
from pjrtwheel.wheel.names import METADATA_SUFFIX

_TAG = "{tag}"


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "releases", nargs="*", type=Path, metavar="RELEASE", help="folder of one release, named as its tag (not --dist)"
    )
    add_options(parser, "--root", "--dist")
    parser.add_argument("--output", type=Path, metavar="DIR", help="root of the index (default: simple in --dist)")
    parser.add_argument(
        "--files-url",
        default="",
        metavar="URL",
        help="address of the folder that the wheels lie in, with {tag} for the name of RELEASE; pages link there",
    )
    parser.add_argument(
        "--metadata",
        type=Path,
        metavar="DIR",
        help="with --files-url: write NAME.metadata of each wheel there, to be uploaded next to the wheels (PEP 658)",
    )


def execute(args: argparse.Namespace) -> int:
    """Write the index and say what is in it."""
    folders = args.releases or [args.dist or args.root / "dist"]
    output = args.output or (folders[0].parent if args.releases else folders[0]) / "simple"
    urls = [_address(args.files_url, folder.resolve().name if args.releases else "") for folder in folders]
    if args.metadata and not args.files_url:
        raise UsageError("--metadata needs --files-url", cause="METADATA lies next to the pages otherwise")
    sources = [
        WheelFolder(folder, url, metadata=not url or bool(args.metadata))
        for folder, url in zip(folders, urls, strict=True)
    ]
    withdrawn = _find_withdrawn(args.root, folders, named=bool(args.releases))
    projects = write_joint_index(sources, output, withdrawn)
    for project in projects:
        print_text(f"{project.name}: {count(len(project.files), 'file')}, {', '.join(project.versions)}")
    for file in (file for project in projects for file in project.files if args.metadata and file.metadata):
        write_atomically(args.metadata / f"{file.name}{METADATA_SUFFIX}", file.metadata.decode())
    for name in (name for folder in folders for name in find_unlisted(folder, projects)):
        print(f"warning: {name} is not in the index, for release.json does not list it", file=sys.stderr)
    # jax and what it needs come from another index, so this one must not take the place of all others.
    folder = display_path(output.absolute())
    print_text(f"{folder}: serve it, and give pip its address with --extra-index-url, or uv with --index")
    print_text(f"{folder}/{MAIN_PAGE}: how to install, what was proven, sizes and hashes, for people")
    return 0


def _address(template: str, tag: str) -> str:
    """Return the address of a release's files; a tag may have characters that addresses quote."""
    if not template:
        return ""
    if not template.startswith(("http://", "https://", "file://")):
        raise UsageError(f"--files-url {template}: expected an address that begins with https://")
    if (_TAG in template) != bool(tag):
        cause = f"the wheels of one tag lie in a folder of their own, {_TAG} in --files-url"
        raise UsageError(f"--files-url {template} does not fit the folders", cause=cause, remedy="see --help")
    return template.replace(_TAG, quote(tag, safe=""))


def _find_withdrawn(root: Path, folders: Iterable[Path], *, named: bool) -> dict[str, str]:
    """Return the reasons of the withdrawn wheels; folders that are `named` have their tag for a name."""
    decisions = read_yanked(root / YANKED_FILE)
    found: dict[str, str] = {}
    for folder in folders:
        found |= find_reasons(decisions, read_entries(folder) if decisions else (), folder.name if named else "")
    return found
