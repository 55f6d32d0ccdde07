# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a wheel is made of: members whose bytes can be streamed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a wheel, not yet read.

    Attributes:
        path: Its path in the wheel.
        size: Its length.
        chunks: Streams its bytes in chunks of a given length; only the last may be shorter.
        executable: Whether it gets the permission to execute, as shared libraries have.
    """

    path: str
    size: int
    chunks: Callable[[int], Iterator[memoryview]]
    executable: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """One file of a wheel that has been written.

    Attributes:
        path: Its path in the wheel.
        size: Its length.
        sha256: Digest of its bytes.
    """

    path: str
    size: int
    sha256: bytes


def text_member(path: str, content: str | bytes) -> Member:
    """Return a member that is held in memory."""
    data = content.encode() if isinstance(content, str) else content
    view = memoryview(data)
    return Member(path, len(data), lambda size: (view[at : at + size] for at in range(0, len(data), size)))
