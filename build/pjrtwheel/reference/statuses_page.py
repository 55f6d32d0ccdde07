# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The page about exit statuses and the errors behind them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from types import ModuleType

import jaxlib_select.cli
import jaxlib_select.errors
import pjrtwheel.errors
from pjrtwheel.program import INTERRUPTED
from pjrtwheel.reference.markdown import code, render_table
from pjrtwheel.release_check.problems import SEVERAL, Kind

_HEAD = """\
# Exit statuses

0 means that everything asked for was done. An error is one to three lines on standard error: what happened, the
probable cause, what to do. `--debug` adds the traceback.

## The tooling

`python -m pjrtwheel` ends with the status, and so does a nox session that runs one command of the tooling; several
sessions end with 1. nox itself ends with 2 or 3 for an option or a session that there is not, and `./noxw` answers with
the right command.
"""
_CHECK = """\
## `release_check`

A release that must not be published yet ends with the status of what is wrong with it, or with {several} if that is of
several kinds.
"""
_SELECT = "## `jaxlib-select`\n"
_COLUMNS = ("status", "error", "what happened")


def render_statuses() -> str:
    """Return the page: the statuses of both command lines, from their classes of errors."""
    interrupted = (str(INTERRUPTED), "", "Interrupted, by Ctrl+C or SIGTERM.")
    several = (str(SEVERAL), "", "A release that must not be published yet, for several reasons.")
    rows = sorted([*errors_of(pjrtwheel.errors), several], key=lambda row: int(row[0]))
    parts = [
        _HEAD,
        render_table(_COLUMNS, [*rows, interrupted]) + "\n",
        _CHECK.format(several=SEVERAL),
        render_table(("status", "what is wrong", "what to do"), _describe_kinds()) + "\n",
        _SELECT,
        render_table(_COLUMNS, [*errors_of(jaxlib_select.errors), interrupted]),
    ]
    return "\n".join(parts) + "\n"


def errors_of(module: ModuleType) -> list[tuple[str, str, str]]:
    """Return status, class and meaning of each error that a module defines, in order of status."""
    classes = [
        value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__
    ]
    rows = [
        (str(kind.exit_code), code(kind.__name__), _explain(kind)) for kind in classes if hasattr(kind, "exit_code")
    ]
    return sorted(rows, key=lambda row: int(row[0]))


def _explain(kind: type) -> str:
    """Return the first paragraph of a docstring in one line."""
    return " ".join((inspect.getdoc(kind) or "").partition("\n\n")[0].split())


def _describe_kinds(kinds: Iterable[Kind] = Kind) -> Iterator[tuple[str, str, str]]:
    for kind in kinds:
        yield str(kind.status), kind.heading, kind.remedy
