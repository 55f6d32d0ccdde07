# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The command line: picks a subcommand, runs it, and turns errors into messages and exit codes.

A subcommand is a module of this package with two functions: `configure_parser(parser: ArgumentParser) -> None` and
`execute(args: Namespace) -> int`. Only the module that was asked for is imported.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from pjrtwheel.errors import PjrtWheelError, UsageError

PROGRAM = "python -m pjrtwheel"
INTERRUPTED = 130  # 128 + SIGINT, as shells report it

# What a user can mend; any other error of the system is a bug and keeps its traceback.
REMEDIES = {
    errno.ENOSPC: "free some space, or set PJRTWHEEL_CACHE and TMPDIR to a larger disk",
    errno.EDQUOT: "free some space, or set PJRTWHEEL_CACHE and TMPDIR to a larger disk",
    errno.EACCES: "give yourself the right to it, or name another place",
    errno.EPERM: "give yourself the right to it, or name another place",
    errno.EROFS: "name another place with --dist, or in PJRTWHEEL_CACHE and TMPDIR",
    errno.ENOENT: "check the path",
    errno.ENOTDIR: "check the path: a part of it is a file",
}

COMMANDS = {
    "assemble": "write a repaired wheel from a manifest",
    "auto": "build jaxlib-auto, whose wheel variants ask for what fits the machine",
    "build": "build, verify, prove and publish the wheels of one backend",
    "clean": "remove what Bazel left for checkouts that are gone",
    "conformance": "run JAX's own tests on the built-in client and on a plugin",
    "facts": "write for jaxlib-select what the wheels of a release serve",
    "index": "write a static package index of finished wheels",
    "inspect": "say what wheels are, and what is wrong with them",
    "pin": "write releases/VERSION.toml from the package index",
    "probe": "run PJRT's conformance checks on plugin libraries, without JAX",
    "repair": "repair a finished wheel",
    "smoke": "prove finished wheels in clean environments",
    "verify": "check finished wheels against what their names and metadata promise",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand and return the exit status.

    Args:
        argv: Arguments after the program name; those of this process when absent.

    Returns:
        The subcommand's status, an error's own exit code, or 130 after an interrupt.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    try:
        return _run([argument for argument in arguments if argument != "--debug"])
    except PjrtWheelError as error:
        return _fail(str(error), error.exit_code, debug=debug)
    except OSError as error:
        if error.errno not in REMEDIES:
            raise
        return _fail(_describe(error), PjrtWheelError.exit_code, debug=debug)
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED, debug=debug)


def _run(arguments: Sequence[str]) -> int:
    """Parse the arguments, import the subcommand's module and run it."""
    commands = "\n".join(f"  {name:<13}{summary}" for name, summary in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=f"commands:\n{commands}",
        epilog="--debug shows the traceback of an error",
    )
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...")
    chosen = parser.parse_args(arguments)
    module = importlib.import_module(f"pjrtwheel.cli.{chosen.command}")
    subparser = argparse.ArgumentParser(prog=f"{PROGRAM} {chosen.command}", description=COMMANDS[chosen.command])
    module.configure_parser(subparser)
    status: int = module.execute(subparser.parse_args(chosen.arguments))
    return status


def _fail(message: str, status: int, *, debug: bool) -> int:
    """Print a message of up to three lines, after the traceback when debugging, and return the status."""
    if debug:
        traceback.print_exc()
    print("error: " + message.replace("\n", "\n       "), file=sys.stderr)
    return status


def _describe(error: OSError) -> str:
    """Say in two lines what the system refused and for which file, and what to do."""
    place = f": {error.filename}" if error.filename else ""
    return f"{(error.strerror or 'system error').lower()}{place}\n{REMEDIES[error.errno or 0]}"


def check_repository(root: Path) -> None:
    """Make sure that a folder is this repository.

    Raises:
        UsageError: It is not.
    """
    if not (root / "releases").is_dir() or not (root / "plugins").is_dir():
        raise UsageError(f"not the repository: {root}", remedy="give it with --root, or change into it")


def check_wheels(wheels: Sequence[Path]) -> None:
    """Make sure that every file named on the command line is there.

    Raises:
        UsageError: One is not.
    """
    for wheel in wheels:
        if not wheel.is_file():
            raise UsageError(f"no such file: {wheel}")
