# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Strings for terminals: many devices in few words, and nothing that a terminal would take for a command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from jaxlib_select.machine.model import NvidiaGpu, format_version

_SHOWN = 3  # kinds of GPU that a sentence names
_NAMES = 8  # other names


def describe_gpus(gpus: Sequence[NvidiaGpu]) -> str:
    """Return the kinds of GPU, the newest first.

    >>> describe_gpus([NvidiaGpu((9, 0), "H100"), NvidiaGpu((9, 0), "H100")])
    '2 x H100 (compute capability 9.0)'
    """
    counts = Counter((gpu.compute_capability or (), gpu.name or "a GPU") for gpu in gpus)
    kinds = sorted(counts, reverse=True)
    parts = []
    for kind in kinds[:_SHOWN]:
        count = f"{counts[kind]} x " if counts[kind] > 1 else ""
        parts.append(f"{count}{kind[1]} (compute capability {format_version(kind[0]) or 'unknown'})")
    if len(kinds) > _SHOWN:
        parts.append(f"{len(kinds) - _SHOWN} other kinds")
    return ", ".join(parts)


def enumerate_some(names: Sequence[str]) -> str:
    """Return a list that fits into a sentence.

    >>> enumerate_some(["a", "b"])
    'a, b'
    """
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return f"{', '.join(names[:_NAMES])}{more}"


def shorten(text: str, width: int) -> str:
    """Return the start of a string that is longer than so many characters.

    >>> shorten("jaxlib", 6), shorten("jaxlib-cpu", 6)
    ('jaxlib', 'jax...')
    """
    return text if len(text) <= width else f"{text[: max(width, 3) - 3]}..."


def printable(text: str) -> str:
    r"""Return a string with a space for each other white space, and `?` for any other unprintable character.

    >>> printable("H100\t80GB\x1b[2J")
    'H100 80GB?[2J'
    """
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else " " if character.isspace() else "?" for character in text)
