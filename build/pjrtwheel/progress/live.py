# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Progress on a terminal: lines that change in place below those that stay."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from pjrtwheel.console import fold_text
from pjrtwheel.progress.board import Progress
from pjrtwheel.progress.layout import Marks, layout_live

_PER_SECOND = 4
_STYLES = {"passed": "green", "failed": "bold red"}


class LiveProgress(Progress):
    """Shows what runs for as long as it does; a context manager. Other prints of this process appear above it."""

    def __init__(self, console: Console, marks: Marks, clock: Callable[[], float] = time.monotonic) -> None:
        """Show it on a console."""
        super().__init__(marks, clock)
        self._console = console
        self._live = Live(
            console=console, get_renderable=self._render, refresh_per_second=_PER_SECOND, transient=True,
            vertical_overflow="crop", redirect_stdout=sys.stdout.isatty(),
        )  # fmt: skip

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self._console.print(Text(fold_text(text, self._console.width)), soft_wrap=True)

    def end_step(self, text: str) -> None:
        """Say how a step ended, with its mark in colour."""
        style = _STYLES["passed"] if text.startswith(self.marks.passed) else _STYLES["failed"]
        mark, _, rest = text.partition(" ")
        self._console.print(Text.assemble((mark, style), " ", rest))

    def _render(self) -> Text:
        lines = layout_live(self.activities(), self.started, self.clock(), self._console.width, self.marks)
        text = Text("\n".join(lines), no_wrap=True, overflow="crop")
        text.highlight_regex(r"(?m)^(    .*|total.*)$", "dim")
        return text

    def __enter__(self) -> Self:
        """Begin to show it."""
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove what changes; what was said stays."""
        self._live.__exit__(kind, error, trace)
