# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Texts that drivers and variables hold, made harmless for terminals and for the JSON form of a machine."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""Return a text with a space for each odd kind of white space, and `?` for whatever else cannot be printed.

    >>> printable("H100\t80GB\x1b[2J")
    'H100 80GB?[2J'
    """
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else " " if character.isspace() else "?" for character in text)
