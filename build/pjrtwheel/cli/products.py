# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`facts`, `auto`, `select` and `index`: what is made of finished wheels for those who choose among them."""

import argparse
import shlex
import sys
from functools import partial
from pathlib import Path

from pjrtwheel.backend import KERNELS_SUFFIX, load_backends
from pjrtwheel.console import print_text
from pjrtwheel.errors import count, fit
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import display_path, require_folder
from pjrtwheel.products.auto import build_auto
from pjrtwheel.products.facts import write_facts
from pjrtwheel.products.index import write_index
from pjrtwheel.products.index.closure import read_closure
from pjrtwheel.products.index.projects import find_unlisted
from pjrtwheel.products.index.release_pages import MAIN_PAGE
from pjrtwheel.products.pure_python import build_project, build_tooling
from pjrtwheel.publish.yanked import YANKED_FILE, read_reasons
from pjrtwheel.record.entries import read_entries, require_record
from pjrtwheel.release.known import give_label, load_release
from pjrtwheel.sets import BINDINGS, PURE_PYTHON


def execute_facts(args: argparse.Namespace) -> int:
    """Write the file; a library that was not built here is read from the wheel that is pinned."""
    if args.dist:
        require_folder(args.dist, "give a folder of wheels as a build leaves it, such as dist/")
    release = give_label(load_release(args.root, args.release), args.label)
    entries = read_entries(args.dist or args.root / "dist")
    print(write_facts(args.root, cache_root(), release, load_backends(args.root), entries.values()))
    return 0


def execute_auto(args: argparse.Namespace) -> int:
    """Build the wheels and say what each is for."""
    if args.dist:
        require_record(args.dist)
    release = give_label(load_release(args.root, args.release), args.label)
    for variant in build_auto(args.root, args.dist or args.root / "dist", release):
        properties = " ".join(variant.properties) or "any machine"
        print_text(f"{variant.label or 'plain'}: {'; '.join(variant.requires)} ({properties})")
    print_text("next: ./noxw index")
    return 0


def execute_select(args: argparse.Namespace) -> int:
    """Build the wheel and say where it is."""
    _print_path(build_project(args.root / "selector", args.root, args.dist or args.root / "dist").path.absolute())
    return 0


def _print_path(path: Path) -> None:
    print(display_path(path) if sys.stdout.isatty() else path)  # a shell's substitution does not expand ~


def configure_parser_tooling(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--plugins", type=Path, metavar="DIR", help="folder of plugin wheels (default: that of --dist)")


def execute_tooling(args: argparse.Namespace) -> int:
    """Build the wheel and say where it is."""
    dist = args.dist or args.root / "dist"
    _print_path(build_tooling(args.root, args.plugins or dist, dist).path.absolute())
    return 0


def configure_parser_index(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = "An index of several releases is what `publish folder` writes."
    # Not the shared option: an index is made of any folder of wheels, with or without the repository.
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="root of the repository (default: here)")
    parser.add_argument("--output", type=Path, metavar="DIR", help="root of the index (default: simple in --dist)")
    parser.add_argument("--copy", action="store_true", help="copy what the wheels need, for use without a network")


def execute_index(args: argparse.Namespace) -> int:
    """Write the index and say what is in it."""
    dist = args.dist or args.root / "dist"
    output = args.output or dist / "simple"
    closure = partial(read_closure, copies=cache_root() if args.copy else None)
    yanked = read_reasons(args.root / YANKED_FILE, read_entries(dist))
    projects, others = write_index(dist, output, yanked, closure)
    for project in projects:
        print_text(f"{project.name}: {count(len(project.files), 'file')}, {', '.join(project.versions)}")
    if doubled := [project.name for project in projects if project.is_doubled]:
        print(f"warning: {fit(doubled)}: of two sets of a release, installers take the last", file=sys.stderr)
    for name in find_unlisted(dist, projects):
        print(f"warning: {name} is not in the index: release.json does not list it", file=sys.stderr)
    print_text(f"what they need: {count(len(others), 'project')}, {count(sum(len(p.files) for p in others), 'file')}")
    packages = {backend.distribution: backend.requirement for backend in load_backends(args.root).values()}
    names = [each.name for each in projects if not each.name.endswith((BINDINGS, *PURE_PYTHON, KERNELS_SUFFIX))]
    plugins = [packages.get(name, name) for name in names] if len(names) < 2 else ["PLUGIN"]
    wanted, folder = shlex.join(["jax", *plugins]), display_path(output.absolute())
    print_text("to install, from the folder itself or from where you serve it:")
    print(f"  INDEX={output.absolute().as_uri()}")
    print(f"  pip install --index-url $INDEX {wanted}")
    print(f"  uv pip install --default-index $INDEX {wanted}")
    print_text(f"{folder}/{MAIN_PAGE}: how to install, what was proven, sizes and hashes, for people")
    return 0
