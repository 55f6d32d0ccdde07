# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Consoles of Rich's that show what the selector says an output can show, and not what Rich takes it for."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

from rich.console import Console

if TYPE_CHECKING:
    from jaxlib_select.cli.terminal import Terminal


def open_console(stream: TextIO | None = None, environ: Mapping[str, str] | None = None) -> tuple[Console, Terminal]:
    """Return a console for a stream, that for results when absent, and what that can show.

    By itself Rich dyes what goes into a pipe if FORCE_COLOR is set.
    """
    from jaxlib_select.cli.terminal import describe_terminal  # noqa: PLC0415 - on the path of running commands

    stream, environ = stream or sys.stdout, os.environ if environ is None else environ
    terminal = describe_terminal(stream, environ)
    return Console(
        file=stream, highlight=False, force_terminal=terminal.width > 0, no_color=not terminal.colour
    ), terminal
