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
from jaxlib_select.errors import SelectError, UsageError
from jaxlib_select.names import suggest

TYPE_CHECKING = False  # typing is slow to import
if TYPE_CHECKING:
    from typing import NoReturn

PROGRAM = "jaxlib-select"
INTERRUPTED = 130  # 128 + SIGINT, as shells report it

COMMANDS = {
    "install": "install a package for the accelerator of this machine",
    "doctor": "find out why JAX does not use the accelerator",
    "resolve": "choose the package for this machine, with the reasons",
    "detect": "show the accelerators of this machine",
    "lock": "write a lock file for other machines, or check one",
    "apply": "make an environment match a lock file",
}
_HELP = f"""\
usage: {PROGRAM} COMMAND [ARGUMENT]...

{chr(10).join(f"  {name:<9}{summary}" for name, summary in COMMANDS.items())}

to install JAX: {PROGRAM} install jax
options of a command: {PROGRAM} COMMAND --help
--version prints the version, --debug the traceback of an error"""


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
        # The reader of the output has seen enough.
        return 0 if isinstance(error, BrokenPipeError) else _fail(str(error), SelectError.exit_code, debug=debug)
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED, debug=debug)
    return status


def _prepare_output() -> None:
    """Write characters that the encoding of stdout lacks as escapes: names of devices may be in any letters.

    If stdout or stderr is closed, drop what goes there; errors do not go to the other one.
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


class _Parser(argparse.ArgumentParser):
    """Raise a `UsageError` for a mistake, where `argparse` prints its usage and ends the program."""

    def parse_all(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Return the arguments, options and packages in any order."""
        known, unknown = self.parse_known_intermixed_args(arguments)
        if unknown:
            option = unknown[0].partition("=")[0]
            raise UsageError(
                f"unknown argument: {option}",
                cause=suggest(option, self._option_string_actions),
                remedy=f"all options: {self.prog} --help",
            )
        return known

    def error(self, message: str) -> NoReturn:
        """Raise the error about an argument that is missing or malformed."""
        raise UsageError(message, remedy=f"all options: {self.prog} --help")


def _run(arguments: list[str]) -> int:
    """Import the subcommand's module, parse the arguments and run it; without a subcommand print the help."""
    command, *rest = arguments or ["--help"]
    if command in {"--help", "-h"}:
        print(_HELP)
        return 0
    if command == "--version":
        print(f"{PROGRAM} {__version__}")
        return 0
    if command not in COMMANDS:
        remedy = f"all commands: {PROGRAM} --help"
        raise UsageError(f"unknown command: {command}", cause=suggest(command, COMMANDS), remedy=remedy)
    namespace = make_parser(command).parse_all(rest)
    status: int = importlib.import_module(f"jaxlib_select.cli.{command}").execute(namespace)
    return status


def make_parser(command: str) -> _Parser:
    """Return the parser of one subcommand's arguments."""
    parser = _Parser(prog=f"{PROGRAM} {command}", description=COMMANDS[command])
    importlib.import_module(f"jaxlib_select.cli.{command}").configure_parser(parser)
    return parser


def _fail(message: str, status: int, *, debug: bool) -> int:
    """Print a message of up to three lines, after the traceback when debugging, and return the status."""
    if debug:
        import traceback  # seldom needed

        traceback.print_exc()
    lines = [part for line in message.splitlines() for part in _fold(line)]
    print("error: " + "\n       ".join(lines), file=sys.stderr)
    return status


def _fold(line: str) -> list[str]:
    """Return a line in pieces of at most 80 columns if it lists names; commands stay whole, to be pasted."""
    from jaxlib_select.cli.terminal import wrap  # seldom needed

    return wrap(line, 73) if line.startswith("known") else [line]
