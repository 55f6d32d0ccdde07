# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which kind of progress an output can show; asked once, where a command begins."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TextIO

from rich.console import Console

from pjrtwheel.progress.layout import ASCII, UNICODE, Marks
from pjrtwheel.progress.lines import HeartbeatProgress, LineProgress
from pjrtwheel.progress.live import LiveProgress

# What functions report to that were given nothing else.
LINES = LineProgress()


def marks_of(stream: TextIO) -> Marks:
    """Return the marks that an encoding has."""
    try:
        "✓✗▸…".encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


def is_live(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Return whether lines of an output can be changed in place."""
    return stream.isatty() and environ.get("TERM", "") not in {"", "dumb", "unknown"}


def open_progress(
    stream: TextIO | None = None, environ: Mapping[str, str] | None = None
) -> LiveProgress | HeartbeatProgress:
    """Return what fits an output, that for errors when absent; enter it for as long as the work takes."""
    stream, environ = stream or sys.stderr, os.environ if environ is None else environ
    if is_live(stream, environ):
        return LiveProgress(Console(file=stream, highlight=False), marks_of(stream))
    return HeartbeatProgress(stream)
