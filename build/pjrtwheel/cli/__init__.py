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

from pjrtwheel.errors import PjrtWheelError

PROGRAM = "python -m pjrtwheel"
INTERRUPTED = 130  # 128 + SIGINT, as shells report it

COMMANDS = {
    "assemble": "write a repaired wheel from a manifest",
    "build": "build, verify, prove and publish the wheels of one backend",
    "conformance": "run JAX's own tests on the built-in client and on a plugin",
    "pin": "write releases/VERSION.toml from the package index",
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
        if error.errno != errno.ENOSPC:
            raise
        return _fail(_describe_full_disk(error), PjrtWheelError.exit_code, debug=debug)
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


def _describe_full_disk(error: OSError) -> str:
    """Name the file that could not be written, and what to do."""
    place = f" while writing {error.filename}" if error.filename else ""
    return f"no space left on the disk{place}\nfree some space, or set PJRTWHEEL_CACHE and TMPDIR to a larger disk"
