# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a person sees while something takes long: bars on a terminal, and otherwise a line every ten seconds.

Functions that take long have a parameter `progress`, which is `LINES` unless `open_progress` gave them another one at
the edge. They say which step begins and what runs in it; how that is shown is no concern of theirs.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Self, TextIO

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from pjrtwheel.console import fold_text, open_console

SILENCE_S = 9.0  # after which a log says what runs; with the interval at most ten seconds
_INTERVAL_S = 1.0
_ITEMS = 4  # that are shown of one step
_WIDTH = 100  # of a line in a log


class Step:
    """A step that runs; several threads may begin and end items of it.

    Attributes:
        total: Of how many items; 0 where that is not known.
        done: How many of them ended.
        running: What runs now.
        failed: Set where it failed although it comes to its end, as that of a program with a bad exit status does.
    """

    def __init__(self, name: str, total: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin it now."""
        self.name, self.total, self.clock, self.since = name, total, clock, clock()
        self.done, self.failed = 0, False
        self.running: list[str] = []
        self._lock = threading.Lock()

    @contextmanager
    def item(self, name: str) -> Iterator[None]:
        """Show an item while something runs; afterwards it counts as done."""
        self.running.append(name)
        try:
            yield
        finally:
            with self._lock:
                self.running.remove(name)
                self.done += 1

    def report(self, done: int, total: int, running: str) -> None:
        """Take over what another program says of itself, in place of what it said before."""
        self.done, self.total, self.running = done, total, [running] if running else []

    def describe(self) -> str:
        """Return name, count and time, such as `verify 3 of 7: 0:01:00`."""
        counted = f" {self.done} of {self.total}" if self.total else f" {self.done}" if self.done else ""
        return f"{self.name}{counted}: {format_time(self.clock() - self.since)}"


class Progress:
    """Prints what is said and nothing else: for commands whose steps are short, and for tests."""

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        """Print to a stream, that for errors when absent; everything begins now."""
        self.clock, self.started = clock, clock()
        self._stream = stream
        self._steps: list[Step] = []

    def say(self, text: str) -> None:
        """Print a line that stays."""
        print(text, file=self._stream or sys.stderr, flush=True)

    @contextmanager
    def step(self, name: str, total: int = 0) -> Iterator[Step]:
        """Show a step while it runs, of `total` items if that is known, and what became of it afterwards."""
        step = Step(name, total, self.clock)
        self._steps.append(step)
        step_failed = True
        try:
            yield step
            step_failed = step.failed
        finally:
            self._steps.remove(step)
            self.end(step, passed=not step_failed)

    def end(self, step: Step, *, passed: bool) -> None:
        """Say nothing: what came of it is said by who asked for it."""

    def __enter__(self) -> Self:
        """Begin to show what runs."""
        return self

    def __exit__(self, *_: object) -> None:
        """Show nothing any more; what was said stays."""


class LogProgress(Progress):
    """Prints also how steps end, and what runs when nothing was said for a while."""

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        """See `Progress`."""
        super().__init__(stream, clock)
        self._said = clock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="progress", daemon=True)

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self._said = self.clock()
        super().say(text)

    def end(self, step: Step, *, passed: bool) -> None:
        """Say how a step ended."""
        self.say(f"{'ok' if passed else 'failed'} {step.describe()}")

    def beat(self) -> None:
        """Say what runs, unless something was said a short time ago."""
        if self._steps and self.clock() - self._said >= SILENCE_S:
            parts = (f"{step.describe()} {'; '.join(step.running[:_ITEMS])}" for step in self._steps)
            self.say(f"[{format_time(self.clock() - self.started)}] {'; '.join(parts)}"[:_WIDTH].rstrip())

    def _watch(self) -> None:
        while not self._ended.wait(_INTERVAL_S):
            self.beat()

    def __enter__(self) -> Self:
        """Begin to watch for silence."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End that."""
        self._ended.set()
        self._thread.join()


class BarProgress(Progress):
    """Shows bars for as long as something runs. Other prints of this process appear above them."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        """Show them on a console."""
        super().__init__(clock=clock)
        self._console = console
        redirected = sys.stdout.isatty()
        self._live = Live(console=console, transient=True, redirect_stdout=redirected, get_renderable=self._draw)

    def _draw(self) -> Table:
        table = Table.grid(padding=(0, 1))
        for step in tuple(self._steps):
            bar = ProgressBar(step.total or None, step.done, width=20, pulse=not step.total)
            table.add_row(bar, Text(step.describe()))
            for name in step.running[:_ITEMS]:
                table.add_row("", Text(f"  {name}"))
        return table

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self._console.print(fold_text(text, self._console.width), soft_wrap=True, markup=False)

    def end(self, step: Step, *, passed: bool) -> None:
        """Say how a step ended, with its mark in colour."""
        mark = ("ok", "green") if passed else ("failed", "bold red")
        self._console.print(Text.assemble(mark, " ", step.describe()))

    def __enter__(self) -> Self:
        """Begin to show them."""
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove them; what was said stays."""
        self._live.stop()


def format_time(seconds: float) -> str:
    """Return a duration in whole seconds.

    >>> format_time(83.4)
    '0:01:23'
    """
    return str(timedelta(seconds=int(seconds)))


# What functions report to that were given nothing else.
LINES = Progress()


def open_progress(stream: TextIO | None = None, environ: Mapping[str, str] | None = None) -> Progress:
    """Return what fits an output, that for errors when absent; enter it for as long as the work takes."""
    console, terminal = open_console(stream or sys.stderr, environ)
    return BarProgress(console) if terminal.width else LogProgress(stream)
