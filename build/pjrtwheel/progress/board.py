# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The steps that run at a time, and the interface that functions report to."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pjrtwheel.progress.layout import Marks, describe_end
from pjrtwheel.progress.step import Activity, Step


class Progress(ABC):
    """Where functions that take long report to; one implementation per kind of output."""

    def __init__(self, marks: Marks, clock: Callable[[], float] = time.monotonic) -> None:
        """Take the time as the beginning of everything."""
        self.clock, self.marks, self.started = clock, marks, clock()
        self._steps: list[Step] = []
        self._lock = threading.Lock()

    @abstractmethod
    def say(self, text: str) -> None:
        """Print a line that stays."""

    @contextmanager
    def step(self, name: str, total: int = 0) -> Iterator[Step]:
        """Show a step while it runs, of `total` items if that is known, and what became of it afterwards."""
        step = Step(name, total, self.clock)
        with self._lock:
            self._steps.append(step)
        passed = False
        try:
            yield step
            passed = not step.failed
        finally:
            with self._lock:
                self._steps.remove(step)
            activity = step.snapshot(asking=False)  # an error of a source must not take the place of the real one
            self.end_step(describe_end(activity, self.clock(), self.marks, passed=passed))

    def end_step(self, text: str) -> None:
        """Say how a step ended."""
        self.say(text)

    def activities(self) -> tuple[Activity, ...]:
        """Return what runs now."""
        with self._lock:
            steps = tuple(self._steps)
        return tuple(step.snapshot() for step in steps)
