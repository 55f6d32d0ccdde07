# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""With which arguments a lock was written, kept in it so that the command that writes it again can be shown."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

_SOURCES = ("--find-links", "--index-url", "--extra-index-url")


def pack_arguments(arguments: Sequence[str], folder: Path) -> list[str]:
    """Return arguments as a lock keeps them: folders below it as relative paths, and no passwords.

    Args:
        arguments: Such as `--find-links /home/me/dist`.
        folder: Where the lock will lie.
    """
    return _map_values(arguments, lambda value: _pack(value, folder))


def unpack_arguments(words: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Return the arguments that a lock keeps, with its folders as they are reached from here.

    Args:
        words: What `pack_arguments` returned.
        folder: Where the lock lies.
    """
    return tuple(_map_values(words, lambda value: value if "://" in value else str(folder / value)))


def with_sources(arguments: Sequence[str], sources: Sequence[str]) -> tuple[str, ...]:
    """Return arguments with other options that say where wheels are.

    >>> with_sources(["--groups", "cpu", "--find-links", "a", "--no-index"], ["--find-links", "b"])
    ('--groups', 'cpu', '--find-links', 'b')
    """
    return (*[word for word, about in _told_apart(arguments) if not about], *sources)


def sources_in(arguments: Sequence[str]) -> tuple[str, ...]:
    """Return of arguments those that say where wheels are.

    >>> sources_in(["--groups", "cpu", "--find-links", "a", "--no-index"])
    ('--find-links', 'a', '--no-index')
    """
    return tuple(word for word, about in _told_apart(arguments) if about)


def _told_apart(arguments: Sequence[str]) -> list[tuple[str, bool]]:
    """Return each word, and whether it is about where wheels are."""
    pairs = itertools.pairwise(["", *arguments])
    return [(word, before in _SOURCES or word in (*_SOURCES, "--no-index")) for before, word in pairs]


def _map_values(words: Sequence[str], change: Callable[[str], str]) -> list[str]:
    """Return words with what says where wheels are changed."""
    return [change(word) if option in _SOURCES else word for option, word in itertools.pairwise(["", *words])]


def _pack(value: str, folder: Path) -> str:
    if "://" in value:
        parts = urlsplit(value)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    path = Path(os.path.abspath(value))
    return path.relative_to(folder).as_posix() if folder in path.parents else str(path)
