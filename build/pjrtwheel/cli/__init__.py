# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The command line: picks a subcommand and runs it.

A subcommand is a module of this package with two functions: `configure_parser(parser: ArgumentParser) -> None` and
`execute(args: Namespace) -> int`. Only the module that was asked for is imported.
"""

from __future__ import annotations

import argparse
import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pjrtwheel.errors import UsageError
from pjrtwheel.program import CommandParser, program, require_text

PROGRAM = "./noxw"

COMMANDS = {
    "assemble": "write a repaired wheel from a manifest",
    "attest": "write a release as it is published: wheels, checksums, bill of materials, provenance",
    "auto": "build jaxlib-auto, whose wheel variants ask for what fits the machine",
    "build": "build, verify and prove the wheels of one backend, into dist/",
    "bundle": "fill one folder with all that builds and proofs need, for machines without a network",
    "bump": "pin, build and prove the next JAX release, and report what changed",
    "clean": "remove what Bazel left for checkouts that are gone",
    "conformance": "run JAX's own tests on the built-in client and on a plugin",
    "facts": "write for jaxlib-select what the wheels of a release serve",
    "index": "write a static package index of finished wheels",
    "inspect": "say what wheels are, and what is wrong with them",
    "matrix": "print as JSON the jobs of continuous integration: what to build, test and start",
    "merge": "put the wheels and records of several builds into one folder",
    "pages": "write the index of all releases of GitHub, for Pages to serve",
    "pin": "write releases/VERSION.toml from the package index",
    "probe": "run PJRT's conformance checks on plugin libraries, without JAX",
    "publish": "bring a release to a destination, or promote it from a stage",
    "release": "make all wheels of a release and their index, with the plan first",
    "release_check": "check a release before anything of it is published",
    "repair": "repair a finished wheel",
    "reproduce": "build a published release again, and compare it byte for byte",
    "select": "build jaxlib-select, which finds out what fits a machine",
    "shutdown": "end the Bazel servers of this checkout",
    "sizes": "write down the sizes of a release's wheels, for the next release to be held to",
    "smoke": "prove finished wheels in clean environments",
    "table": "print the wheels of a folder as a table in Markdown",
    "tag": "say what a tag of git publishes, or why it must not be published",
    "verify": "check finished wheels against what their names and metadata promise",
    "verify_installs": "install a release from a stage as users do, and start JAX",
    "verify_release": "verify a release as those who receive it: checksums, documents, signature, wheels",
    "yank": "withdraw a published release, with the reason",
}


@program
def main(argv: Sequence[str] | None = None) -> int:
    """Import the module of one subcommand, run it and return its status."""
    width = max(map(len, COMMANDS)) + 2
    commands = "\n".join(f"  {name:<{width}}{summary}" for name, summary in COMMANDS.items())
    parser = CommandParser(
        prog=PROGRAM,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=f"commands:\n{commands}",
        epilog="--debug shows the traceback of an error",
    )
    parser.add_argument("--root", type=Path, help=argparse.SUPPRESS)  # that of ./noxw, wherever it is called
    parser.add_argument("command", metavar="COMMAND")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...")
    chosen = parser.parse_all(argv)
    if chosen.command not in COMMANDS:
        parser.refuse_unknown("command", chosen.command, COMMANDS)
    if os.environ.get("PJRTWHEEL_BUNDLE"):
        # By its name, so that it is not among the inputs of the actions that run this.
        importlib.import_module("pjrtwheel.bundle").enter_bundle(os.environ)
    command = make_parser(chosen.command)
    if chosen.root:
        command.set_defaults(root=chosen.root)
    arguments = command.parse_all(chosen.arguments)
    status: int = importlib.import_module(f"pjrtwheel.cli.{chosen.command}").execute(arguments)
    return status


def make_parser(command: str) -> CommandParser:
    """Return the parser of one subcommand's arguments."""
    parser = CommandParser(prog=f"{PROGRAM} {command}", description=COMMANDS[command])
    importlib.import_module(f"pjrtwheel.cli.{command}").configure_parser(parser)
    return parser


def check_repository(root: Path) -> None:
    """Raise a `UsageError` unless a folder is this repository."""
    if not (root / "releases").is_dir() or not (root / "plugins").is_dir():
        raise UsageError(f"not the repository: {root}", remedy="give it with --root, or change into it")


def check_files(paths: Sequence[Path], what: str, pattern: str) -> None:
    """Raise a `UsageError` unless every path named on the command line is that of a file, such as one of the wheels."""
    for path in paths:
        if path.is_dir():
            raise UsageError(f"{path} is a folder", remedy=f"name the {what} in it, such as {path}/{pattern}")
        if path.exists() and not path.is_file():
            raise UsageError(f"not a regular file: {path}")
        if not path.is_file():
            raise UsageError(f"no such file: {path}")


def check_wheels(wheels: Sequence[Path]) -> None:
    """Raise a `UsageError` unless every path named on the command line is that of a file."""
    check_files(wheels, "wheels", "*.whl")


def add_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """Declare options that several subcommands have, by name; without a release `load_release` takes the newest."""
    options: dict[str, dict[str, Any]] = {
        "--root": {"type": Path, "default": Path.cwd(), "help": "root of the repository (default: here)"},
        "--release": {
            "type": require_text,
            "metavar": "VERSION",
            "help": "JAX release (default: the newest in releases/, or of the wheels)",
        },
        "--dist": {"type": Path, "metavar": "DIR", "help": "folder of the wheels (default: dist/ of the repository)"},
        "--set": {
            "metavar": "FOLDER|URL|VERSION",
            "help": "the set that the plugin was built for (default: that of the newest release in the wheels' folder)",
        },
        "--tool": {
            "action": "append",
            "default": [],
            "metavar": "NAME=PATH",
            "help": "vendor's program that reads GPU code",
        },
    }
    for name in names:
        parser.add_argument(name, **options[name])


def parse_tools(arguments: Sequence[str]) -> dict[str, Path]:
    """Return name → path of the vendors' programs that `--tool` gives; raise a `UsageError` for one not there."""
    tools = {}
    for argument in arguments:
        name, _, path = argument.partition("=")
        if not name or not Path(path).is_file():
            raise UsageError(f"--tool {argument}: no such file", remedy="expected NAME=PATH")
        tools[name] = Path(path)
    return tools
