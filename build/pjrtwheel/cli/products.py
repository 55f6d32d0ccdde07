# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`facts`, `auto` and `select`: what is made of finished wheels for those who choose among them."""

import argparse
import os
import sys

from pjrtwheel.backend import load_backends
from pjrtwheel.bump import write_facts
from pjrtwheel.cli import add_options, check_repository
from pjrtwheel.console import print_text
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import display_path, require_folder
from pjrtwheel.products.auto import build_auto
from pjrtwheel.products.pure_python import build_selector
from pjrtwheel.record.entries import read_entries, require_record
from pjrtwheel.release.known import load_release


def configure_parser_facts(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_options(parser, "--root", "--release", "--dist")


def execute_facts(args: argparse.Namespace) -> int:
    """Write the file; a library that was not built here is read from the wheel that is pinned."""
    check_repository(args.root)
    if args.dist:
        require_folder(args.dist, "give a folder of wheels as a build leaves it, such as dist/")
    release, entries = load_release(args.root, args.release), read_entries(args.dist or args.root / "dist")
    print(write_facts(args.root, cache_root(os.environ), release, load_backends(args.root), entries.values()))
    return 0


def configure_parser_auto(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_options(parser, "--root", "--release", "--dist")


def execute_auto(args: argparse.Namespace) -> int:
    """Build the wheels and say what each is for."""
    check_repository(args.root)
    if args.dist:
        require_record(args.dist)
    release = load_release(args.root, args.release)
    for variant in build_auto(args.root, args.dist or args.root / "dist", release):
        properties = " ".join(variant.properties) or "any machine"
        print_text(f"{variant.label or 'plain'}: {'; '.join(variant.requires)} ({properties})")
    print_text("next: ./noxw index")
    return 0


def configure_parser_select(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_options(parser, "--root", "--dist")


def execute_select(args: argparse.Namespace) -> int:
    """Build the wheel and say where it is."""
    check_repository(args.root)
    path = build_selector(args.root, args.dist or args.root / "dist").path.absolute()
    print(display_path(path) if sys.stdout.isatty() else path)  # a shell's substitution does not expand ~
    return 0
