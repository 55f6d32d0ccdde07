# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`facts`, `auto` and `select`: what is made of finished wheels for those who choose among them."""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.cli import add_options, check_repository, parse_tools
from pjrtwheel.console import print_text
from pjrtwheel.errors import UsageError
from pjrtwheel.files import display_path, require_folder, write_atomically
from pjrtwheel.gpucode.reader import read_gpu_code
from pjrtwheel.products.auto import build_auto
from pjrtwheel.products.facts import (
    KnownCode,
    code_of_library,
    code_of_set,
    facts_path,
    format_facts,
    make_facts,
    read_old,
)
from pjrtwheel.products.pure_python import build_selector
from pjrtwheel.record.entries import read_entries, require_record
from pjrtwheel.release.known import load_release


def configure_parser_facts(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_options(parser, "--root", "--release", "--dist", "--tool")
    parser.add_argument(
        "--library",
        action="append",
        default=[],
        metavar="BACKEND:PLATFORM=PATH",
        help="read the GPU code of a library now, for a platform that was not built here",
    )
    parser.add_argument("--check", action="store_true", help="only say whether the file is up to date")


def execute_facts(args: argparse.Namespace) -> int:
    """Write the file, or compare it."""
    check_repository(args.root)
    tools = parse_tools(args.tool)
    if args.dist:
        require_folder(args.dist, "give a folder of wheels as a build leaves it, such as dist/")
    backends = load_backends(args.root)
    release = load_release(args.root, args.release)
    path = facts_path(args.root, release.version)
    entries = read_entries(args.dist or args.root / "dist")
    known = [
        *code_of_set(backends.values(), entries.values(), release),
        *(_read_library(argument, backends, tools) for argument in args.library),
    ]
    text = format_facts(make_facts(backends.values(), release, known, read_old(path)))
    if args.check:
        current = path.is_file() and path.read_text("utf-8") == text
        print(f"{path}: {'up to date' if current else 'out of date'}")
        return 0 if current else 1
    write_atomically(path, text)
    print(path)
    return 0


def _read_library(argument: str, backends: dict[str, Backend], tools: Mapping[str, Path]) -> KnownCode:
    """Read the library that an argument names."""
    place, _, library = argument.partition("=")
    name, _, platform = place.partition(":")
    if name not in backends or platform not in backends[name].tags or not Path(library).is_file():
        raise UsageError(
            f"--library {argument}: no such backend, platform or file", remedy="expected BACKEND:PLATFORM=PATH"
        )
    return code_of_library(name, platform, Path(library), read_gpu_code(Path(library), tools).names())


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
