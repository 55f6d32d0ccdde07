# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run a program so that its errors become messages of up to three lines and an exit status; standard library only."""

from __future__ import annotations

import errno
import functools
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from pjrtwheel.errors import PjrtWheelError

Main = TypeVar("Main", bound=Callable[..., int])
INTERRUPTED = 130  # 128 + SIGINT, as shells report it

# What a user can fix; any other error of the system is a bug and keeps its traceback.
REMEDIES = {
    errno.ENOSPC: "free some space, or set PJRTWHEEL_CACHE and TMPDIR to a larger disk",
    errno.EDQUOT: "free some space, or set PJRTWHEEL_CACHE and TMPDIR to a larger disk",
    errno.EACCES: "check its permissions, or name another place",
    errno.EPERM: "check its permissions, or name another place",
    errno.EROFS: "name another place with --dist, or in PJRTWHEEL_CACHE and TMPDIR",
    errno.ENOENT: "check the path",
    errno.ENOTDIR: "check the path: a part of it is a file",
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
        return function([argument for argument in arguments if argument != "--debug"])
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
    print_error(message)
    return status


def _describe(error: OSError) -> str:
    """Say in two lines what the system refused and for which file, and what to do."""
    place = f": {error.filename}" if error.filename else ""
    return f"{(error.strerror or 'system error').lower()}{place}\n{REMEDIES[error.errno or 0]}"
