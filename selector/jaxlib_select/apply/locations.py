# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Where a lock file says that wheels are: folders and files below its own by relative paths, so that all can move."""

from __future__ import annotations

import os
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from jaxlib_select.apply.installer import SOURCE_OPTIONS, by_option
from jaxlib_select.apply.pylock import Table


def pack_arguments(arguments: Sequence[str], folder: Path) -> list[str]:
    """Return arguments as a lock keeps them: folders below it as relative paths, and no passwords."""
    return _map_values(arguments, lambda value: _pack(value, folder))


def unpack_arguments(words: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Return the arguments that a lock keeps, with its folders as they are reached from here."""
    return tuple(_map_values(words, lambda value: value if "://" in value else str(folder / value)))


def sources_in(arguments: Sequence[str]) -> tuple[str, ...]:
    """Return of arguments those that say where wheels are.

    >>> sources_in(["--groups", "cpu", "--find-links", "a", "--no-index"])
    ('--find-links', 'a', '--no-index')
    """
    return tuple(word for words in by_option(arguments) if words[0] in SOURCE_OPTIONS for word in words)


def _map_values(words: Sequence[str], change: Callable[[str], str]) -> list[str]:
    found = []
    for option, *values in by_option(words):
        found += [option, *(map(change, values) if option in SOURCE_OPTIONS else values)]
    return found


def _pack(value: str, folder: Path) -> str:
    if "://" in value:
        parts = urlsplit(value)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    path = Path(os.path.abspath(value))
    return path.relative_to(folder).as_posix() if folder in path.parents else str(path)


def make_relative(packages: Sequence[Table], folder: Path) -> tuple[list[Table], int]:
    """Replace links to files below a folder by relative paths, and count the files that lie elsewhere here."""
    elsewhere = 0
    changed: list[Table] = []
    for package in packages:
        table = dict(package)
        for key in ("wheels", "sdist"):
            if key in table:
                entries = table[key] if key == "wheels" else [table[key]]
                moved = [_relative(entry, folder) for entry in entries]
                elsewhere += sum(str(entry.get("url", "")).startswith("file:") for entry in moved)
                table[key] = moved if key == "wheels" else moved[0]
        changed.append(table)
    return changed, elsewhere


def _relative(entry: Table, folder: Path) -> Table:
    path, home = local_file(str(entry.get("url", ""))), folder.resolve()
    if path is None or not path.is_relative_to(home):
        return entry
    return {"path": path.relative_to(home).as_posix(), **{key: value for key, value in entry.items() if key != "url"}}


def local_file(url: str, to_path: Callable[[str], str] = urllib.request.url2pathname) -> Path | None:
    """Return the file that a URL names; None for one on the network."""
    parts = urlsplit(url)
    if parts.scheme != "file":
        return None
    server = f"//{parts.netloc}" if parts.netloc not in {"", "localhost"} else ""
    return Path(to_path(server + parts.path))
