# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The command line: picks a subcommand and runs it.

A subcommand is two functions of a module of this package: `configure_parser(parser: ArgumentParser) -> None`, unless
it has shared options alone, and `execute(args: Namespace) -> int`. Only the module that was asked for is imported
(`commands.py`).
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pjrtwheel.backend import IS_INSTALLED, OWN_ROOT
from pjrtwheel.cli.commands import COMMANDS, OPTIONS, SHARED, STANDALONE
from pjrtwheel.errors import UsageError
from pjrtwheel.program import CommandParser, program, require_text

sys.path.append(str(OWN_ROOT / "selector"))  # terminals are described there, and the dataclasses of facts
PROGRAM = "pjrtwheel" if IS_INSTALLED else "./noxw"


@program
def main(argv: Sequence[str] | None = None) -> int:
    """Import the module of one subcommand, run it and return its status."""
    known = STANDALONE if IS_INSTALLED else tuple(COMMANDS)
    width = max(map(len, known)) + 2
    commands = "\n".join(f"  {name:<{width}}{COMMANDS[name]}" for name in known)
    parser = CommandParser(
        prog=PROGRAM,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=f"commands:\n{commands}",
        epilog="--debug shows the traceback of an error",
    )
    parser.add_argument("--root", type=require_text, help=argparse.SUPPRESS)  # that of ./noxw, wherever it is called
    parser.add_argument("command", metavar="COMMAND")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...")
    chosen = parser.parse_all(argv)
    if chosen.command not in known:
        parser.refuse_unknown("command", chosen.command, known)
    if os.environ.get("PJRTWHEEL_BUNDLE"):
        # By its name, so that it is not among the inputs of the actions that run this.
        importlib.import_module("pjrtwheel.bundle").enter_bundle(os.environ)
    command = make_parser(chosen.command)
    if chosen.root:
        command.set_defaults(root=chosen.root)  # text, so that it is read like the option
    arguments = command.parse_all(chosen.arguments)
    status: int = find_function("execute", chosen.command)(arguments)
    return status


def make_parser(command: str) -> CommandParser:
    """Return the parser of one subcommand's arguments."""
    parser = CommandParser(prog=f"{PROGRAM} {command}", description=COMMANDS[command])
    if configure := find_function("configure_parser", command):
        configure(parser)
    _add_shared_options(parser, command)
    return parser


def find_function(name: str, command: str) -> Any:
    """Import the module of a subcommand, and return its `configure_parser` or `execute`; None if it has none."""
    shared = next((module for module, commands in SHARED.items() if command in commands), "")
    module = importlib.import_module(f"pjrtwheel.cli.{shared or command}")
    return getattr(module, f"{name}_{command}" if shared else name, None)


def _require_repository(text: str) -> Path:
    """Return the path of this repository; raise a `UsageError` for that of any other folder."""
    root = Path(require_text(text))
    if not (root / "releases").is_dir() or not (root / "plugins").is_dir():
        raise UsageError(f"not the repository: {root}", remedy="give it with --root, or change into it")
    return root


def check_files(paths: Sequence[Path], what: str = "wheels", pattern: str = "*.whl") -> None:
    """Raise a `UsageError` unless every path named on the command line is that of a file."""
    for path in paths:
        if path.is_dir():
            raise UsageError(f"{path} is a folder", remedy=f"name the {what} in it, such as {path}/{pattern}")
        if not path.is_file():
            raise UsageError(f"{'not a regular' if path.exists() else 'no such'} file: {path}")


def find_links(published: str | None) -> list[str]:
    """Return the options with which pip finds a published set, as --set names it."""
    if published and "://" in published:
        return ["--index-url", published]
    return ["--find-links", published] if published and Path(published).exists() else []


def _add_shared_options(parser: argparse.ArgumentParser, command: str) -> None:
    """Declare what a subcommand has in common with others; without a release `load_release` takes the newest."""
    options: dict[str, dict[str, Any]] = {
        "--root": {
            "type": _require_repository,
            "default": str(OWN_ROOT if IS_INSTALLED else Path.cwd()),
            "help": "root of the repository (default: here)",
        },
        "--release": {
            "type": require_text,
            "metavar": "VERSION",
            "help": "JAX release (default: the newest in releases/, or of the wheels)",
        },
        "--label": {"type": require_text, "metavar": "NAME", "help": "a set of your own, such as 1.2.3+NAME.1"},
        "--dist": {"type": Path, "metavar": "DIR", "help": "folder of the wheels (default: dist/ of the repository)"},
        "--set": {
            "type": require_text,
            "metavar": "FOLDER|URL|VERSION",
            "help": "the set that the plugin was built for (default: that of the newest release in the wheels' folder)",
        },
    }
    for name, settings in options.items():
        if command in OPTIONS[name]:
            parser.add_argument(name, **settings)
