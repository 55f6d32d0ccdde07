# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A stream that is a terminal, or none."""

import io


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
