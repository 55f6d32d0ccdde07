# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Progress without a terminal: lines that stay, and in a long silence one that says what runs."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

from pjrtwheel.progress.board import Progress
from pjrtwheel.progress.layout import ASCII, describe_running

WIDTH = 100  # of a line in a log
SILENCE_S = 9.0  # after which it is said what runs; with the interval at most ten seconds
_INTERVAL_S = 1.0


class LineProgress(Progress):
    """Prints what is said and nothing else: for commands whose steps are short, and for tests."""

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        """Print to a stream, that for errors when absent."""
        super().__init__(ASCII, clock)
        self._stream = stream

    def say(self, text: str) -> None:
        """Print a line that stays."""
        print(text, file=self._stream or sys.stderr, flush=True)

    def end_step(self, text: str) -> None:
        """Say nothing: what came of it is said by who asked for it."""


class HeartbeatProgress(LineProgress):
    """Prints also how steps end, and what runs when nothing was said for a while; a context manager."""

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        """See `LineProgress`."""
        super().__init__(stream, clock)
        self._said = clock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="heartbeat", daemon=True)

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self._said = self.clock()
        super().say(text)

    def end_step(self, text: str) -> None:
        """Say how a step ended."""
        self.say(text)

    def beat(self) -> None:
        """Say what runs, unless something was said a short time ago."""
        now = self.clock()
        if now - self._said >= SILENCE_S and (text := describe_running(self.activities(), self.started, now, WIDTH)):
            self.say(text)

    def _watch(self) -> None:
        while not self._ended.wait(_INTERVAL_S):
            self.beat()

    def __enter__(self) -> Self:
        """Begin to watch for silence."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End that."""
        self._ended.set()
        self._thread.join()
