# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Part of a file, read by bounds: whatever sizes a hostile file claims, nothing beyond the part is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

from pjrtwheel.errors import ElfError


@dataclass(frozen=True, slots=True)
class Window:
    """A range of bytes of an open file.

    Attributes:
        file: The file.
        start: Where the range begins in it.
        size: Its length.
        where: The range in words, for messages.
    """

    file: BinaryIO
    start: int
    size: int
    where: str

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes of the window.

        Raises:
            ElfError: They lie beyond its end.
        """
        if offset < 0 or length < 0 or offset + length > self.size:
            raise self.damaged(f"it ends at {self.size}, {length} bytes at {offset} are needed")
        self.file.seek(self.start + offset)
        return self.file.read(length)

    def narrow(self, offset: int, size: int) -> Window:
        """Return a window inside this one.

        Raises:
            ElfError: It would reach beyond the end of this one.
        """
        if offset < 0 or size < 0 or offset + size > self.size:
            raise self.damaged(f"it ends at {self.size}, a part claims {size} bytes at {offset}")
        return Window(self.file, self.start + offset, size, self.where)

    def damaged(self, cause: str) -> ElfError:
        """Return the error that says why the window cannot be read."""
        return ElfError(f"{self.where} is damaged: {cause}", remedy="fetch the library again")
