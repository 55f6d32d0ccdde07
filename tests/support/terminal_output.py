# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A stream that is a terminal, or none, and what is printed to a terminal."""

import io
from collections.abc import Callable

from rich.console import Console


class Output(io.StringIO):
    """A stream with an encoding, which is a terminal or none."""

    def __init__(self, encoding: str | None = "utf-8", *, terminal: bool = True) -> None:
        """Be one."""
        super().__init__()
        self._encoding, self._terminal = encoding, terminal

    @property
    def encoding(self) -> str | None:  # type: ignore[override]
        """Its encoding."""
        return self._encoding

    def isatty(self) -> bool:
        """Return whether it is a terminal."""
        return self._terminal


def text_of(write: Callable[[Console], None], width: int = 80) -> str:
    """Return what is written to a terminal of some width."""
    console = Console(file=io.StringIO(), record=True, width=width)
    write(console)
    return console.export_text()
