# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A step of the work, and the items that run in it; several threads may begin and end items."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Item:
    """What runs within a step: an action, a program, or a download with the bytes that are here and that there will be.

    `since` is a time of the step's clock; a `size` of 0 is an unknown one, and no `received` is no download.
    """

    name: str
    since: float
    received: int | None = None
    size: int = 0


@dataclass(frozen=True, slots=True)
class Activity:
    """A step at one moment: what it is, since when, how many of how many items are done, and those that run."""

    name: str
    since: float
    done: int = 0
    total: int = 0
    items: tuple[Item, ...] = ()


@dataclass(slots=True, eq=False)
class RunningItem:
    """An item whose beginning and end the code around it knows."""

    name: str
    since: float

    def rename(self, name: str) -> None:
        """Say what of it runs now."""
        self.name = name


class Step:
    """A step that runs."""

    def __init__(self, name: str, total: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin it now; a `total` of 0 is an unknown one."""
        self.clock, self.failed = clock, False
        self._name, self._since = name, clock()
        self._done, self._total = 0, total
        self._own: list[RunningItem] = []
        self._reported: tuple[Item, ...] = ()
        self._sources: list[Callable[[float], Sequence[Item]]] = []
        self._lock = threading.Lock()

    @contextmanager
    def item(self, name: str) -> Iterator[RunningItem]:
        """Show an item while something runs; afterwards it counts as done."""
        item = RunningItem(name, self.clock())
        with self._lock:
            self._own.append(item)
        try:
            yield item
        finally:
            with self._lock:
                self._own.remove(item)
                self._done += 1

    def report(self, done: int, total: int, items: Sequence[Item]) -> None:
        """Take over what another program says of itself, in place of what it said before."""
        with self._lock:
            self._done, self._total, self._reported = done, total, tuple(items)

    def fail(self) -> None:
        """Show it as failed although it comes to its end, as that of a program with a bad exit status does."""
        self.failed = True

    def watch(self, source: Callable[[float], Sequence[Item]]) -> None:
        """Ask a function with the time for further items whenever the step is shown."""
        self._sources.append(source)

    def snapshot(self, *, asking: bool = True) -> Activity:
        """Return what is to be shown of it now, with the items of what it watches or without."""
        now = self.clock()
        watched = [item for source in self._sources for item in source(now)] if asking else []
        with self._lock:
            items = (*watched, *self._reported, *(Item(item.name, item.since) for item in self._own))
            return Activity(self._name, self._since, self._done, self._total, items)
