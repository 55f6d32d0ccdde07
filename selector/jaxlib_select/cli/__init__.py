# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The command line: results on stdout, everything else on stderr, errors of one to three lines.

Exit status: 0 done, 1 failed, or a check found something, 2 wrong usage or input, 3 the policy cannot be kept on this
machine, 4 the installer failed or the index cannot be reached, 5 a lock cannot be read or written, 130 interrupted.

A subcommand is a module of this package with `configure_parser(parser)` and `execute(args) -> int`. Only the module
that was asked for is imported.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence

from jaxlib_select import __version__
from jaxlib_select.errors import SelectError

PROGRAM = "jaxlib-select"
INTERRUPTED = 130  # 128 + SIGINT, as shells report it

COMMANDS = {
    "detect": "show which accelerators this machine has",
    "resolve": "decide which package runs here, and give a reason for each",
    "install": "install a package with the right backend",
    "lock": "write the decision down for other machines, or check it",
    "apply": "bring an environment in line with a lock",
    "doctor": "find out why JAX does not use the accelerator",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand and return the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    _prepare_output()
    try:
        status = _run([argument for argument in arguments if argument != "--debug"])
        sys.stdout.flush()
    except SelectError as error:
        return _fail(str(error), error.exit_code, debug=debug)
    except OSError as error:
        _settle_output()
        # Whoever read the output has what it wanted.
        return 0 if isinstance(error, BrokenPipeError) else _fail(str(error), SelectError.exit_code, debug=debug)
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED, debug=debug)
    return status


def _prepare_output() -> None:
    """Let what the encoding of stdout lacks be written as escapes: the names of devices may be in any letters.

    Who closed stdout or stderr does not want to read it: nothing is written, and errors do not go to the other one.
    """
    if sys.stdout is None or sys.stderr is None:
        nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # for as long as the process lives
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _settle_output() -> None:
    """Write out what was printed; if that cannot be, the interpreter must not try once more at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: list[str]) -> int:
    """Import the subcommand's module, parse the arguments and run it."""
    command, rest = (arguments[0], arguments[1:]) if arguments[:1] and arguments[0] in COMMANDS else _parse(arguments)
    namespace = make_parser(command).parse_intermixed_args(rest)
    status: int = importlib.import_module(f"jaxlib_select.cli.{command}").execute(namespace)
    return status


def make_parser(command: str) -> argparse.ArgumentParser:
    """Return the parser of one subcommand's arguments."""
    parser = argparse.ArgumentParser(prog=f"{PROGRAM} {command}", description=COMMANDS[command])
    importlib.import_module(f"jaxlib_select.cli.{command}").configure_parser(parser)
    return parser


def _parse(arguments: list[str]) -> tuple[str, list[str]]:
    """Answer what is no subcommand: --help, --version, a mistake; else return the subcommand and its arguments."""
    width = max(map(len, COMMANDS)) + 2
    commands = "\n".join(f"  {name:<{width}}{summary}" for name, summary in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=f"commands:\n{commands}",
        epilog="'jaxlib-select COMMAND --help' explains one; --debug shows the traceback of an error",
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...")
    chosen = parser.parse_args(arguments)
    return chosen.command, chosen.arguments


def _fail(message: str, status: int, *, debug: bool) -> int:
    """Print a message of up to three lines, after the traceback when debugging, and return the status."""
    if debug:
        import traceback  # seldom needed

        traceback.print_exc()
    print("error: " + message.replace("\n", "\n       "), file=sys.stderr)
    return status
