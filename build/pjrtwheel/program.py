# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run a program so that its errors become messages of up to three lines and an exit status; standard library only."""

import argparse
import difflib
import errno
import functools
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

from pjrtwheel.errors import PjrtWheelError, UsageError

Main = TypeVar("Main", bound=Callable[..., int])
_ALIKE = 0.7  # of 1: "--relase" is that near to "--release", and not to "--set"
MARKED = "PJRTWHEEL_MARKED"  # set inside of the graph: `bazel.events` finds errors in all that Bazel prints
INTERRUPTED, CLOSED = 130, 141  # 128 + SIGINT or SIGPIPE, as shells report them

# What a user can fix; any other error of the system is a bug and keeps its traceback.
REMEDIES = {
    errno.ENOSPC: "free some space, or set PJRTWHEEL_CACHE and TMPDIR to a larger disk",
    errno.EDQUOT: "free some space, or set PJRTWHEEL_CACHE and TMPDIR to a larger disk",
    errno.EACCES: "check its permissions, or name another place",
    errno.EPERM: "check its permissions, or name another place",
    errno.EROFS: "name another place, also in PJRTWHEEL_CACHE and TMPDIR",
    errno.ENOENT: "check the path",
    errno.ENOTDIR: "check the path: a part of it is a file",
    errno.EEXIST: "check the path: a file is where a folder is expected",
    errno.EISDIR: "check the path: a folder is where a file is expected",
}


def run_main(function: Callable[[Sequence[str]], int], argv: Sequence[str] | None) -> int:
    """Run a program and return its exit status: that of the function, of an error, or 130 after SIGINT or SIGTERM.

    Arguments are those of this process when absent. `--debug` among them shows the traceback of an error, and is not
    handed on.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that what is half done is cleared away
    try:
        return _call(function, [argument for argument in arguments if argument != "--debug"])
    except BrokenPipeError:  # whoever reads has seen enough, such as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python would complain when it ends
        return CLOSED
    except PjrtWheelError as error:
        return _fail(str(error), error.exit_code, debug=debug)
    except OSError as error:
        if error.errno not in REMEDIES:
            raise
        return _fail(_describe(error), PjrtWheelError.exit_code, debug=debug)
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED, debug=debug)
    finally:
        signal.signal(signal.SIGTERM, before)


def _call(function: Callable[[Sequence[str]], int], arguments: Sequence[str]) -> int:
    """Call a function, and write what it printed before its errors are dealt with."""
    try:
        return function(arguments)
    finally:
        sys.stdout.flush()


def program(main: Main) -> Main:
    """Make `main(argv)` a program: `run_main` calls it, so that its errors become messages and an exit status."""

    @functools.wraps(main)
    def run(argv: Sequence[str] | None = None) -> int:
        return run_main(main, argv)

    return cast("Main", run)


def print_error(message: str) -> None:
    """Print a message of up to three lines, in the form that all programs share."""
    print("error: " + message.replace("\n", "\n       "), file=sys.stderr)


def _fail(message: str, status: int, *, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    if os.environ.get(MARKED):
        print(f"pjrtwheel error {status}\n{message}\nend of error", file=sys.stderr)
    else:
        print_error(message)
    return status


def _describe(error: OSError) -> str:
    """Say in two lines what the system refused and for which file, and what to do."""
    place = f": {error.filename}" if error.filename else ""
    return f"{(error.strerror or 'system error').lower()}{place}\n{REMEDIES[error.errno or 0]}"


def require_text(text: str) -> str:
    """Return a value as it was given; an empty one comes of a variable that is not set, and would mean any."""
    if not text:
        raise argparse.ArgumentTypeError("expected a value, not an empty text")
    return text


class CommandParser(argparse.ArgumentParser):
    """Parse the arguments of one command; `argparse` alone prints its whole usage for each slip.

    Options are written in full, and no path is empty: that would be this folder.
    """

    def __init__(self, **options: Any) -> None:
        """Take what `argparse` takes."""
        super().__init__(allow_abbrev=False, **options)
        self.register("type", Path, lambda text: Path(require_text(text)))

    def parse_all(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        """Return what the arguments say, those of this process when absent.

        Raises:
            UsageError: One is unknown, missing or malformed.
        """
        known, unknown = self.parse_known_args(arguments)
        if unknown:
            first = next((word for word in unknown if word.startswith("-")), unknown[0])
            if first.startswith("-"):
                self.refuse_unknown("option", first.partition("=")[0], self._option_string_actions)
            raise UsageError(f"unknown argument: {first}", remedy=self._see_help())
        return known

    def refuse_unknown(self, kind: str, word: str, known: Iterable[str]) -> NoReturn:
        """Raise a `UsageError` for an unknown word, with the nearest known one."""
        nearest = difflib.get_close_matches(word, list(known), n=1, cutoff=_ALIKE)
        raise UsageError(
            f"unknown {kind}: {word}", cause=f"did you mean {nearest[0]}?" if nearest else "", remedy=self._see_help()
        )

    def error(self, message: str) -> NoReturn:
        """Raise a `UsageError` in the place of printing the usage."""
        raise UsageError(message, remedy=self._see_help())

    def _see_help(self) -> str:
        return f"all options: {self.prog} --help"
