# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which kind of progress an output can show; asked once, where a command begins."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TextIO

from pjrtwheel.console import open_console
from pjrtwheel.progress.layout import ASCII, UNICODE
from pjrtwheel.progress.lines import HeartbeatProgress, LineProgress
from pjrtwheel.progress.live import LiveProgress

# What functions report to that were given nothing else.
LINES = LineProgress()


def open_progress(
    stream: TextIO | None = None, environ: Mapping[str, str] | None = None
) -> LiveProgress | HeartbeatProgress:
    """Return what fits an output, that for errors when absent; enter it for as long as the work takes."""
    stream = stream or sys.stderr
    console, terminal = open_console(stream, environ)
    if terminal.width:
        return LiveProgress(console, UNICODE if terminal.marks else ASCII)
    return HeartbeatProgress(stream)
