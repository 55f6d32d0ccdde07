# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Open what a plugin library says it needs, where the vendor's libraries are no part of the system."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from .errors import VendorLibraryError
from .library import needed_libraries
from .plugin import Plugin, import_extension
from .preload import Preloaded, Wanted, places, preload
from .status import row

# Parts of glibc and GCC, which every Linux has.
_SYSTEM = re.compile(r"(lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)|ld-linux[^.]*)\.so.*")


def vendor_libraries(needed: Sequence[str]) -> list[str]:
    """Return what does not belong to the system.

    >>> vendor_libraries(["libsycl.so.8", "libm.so.6", "ld-linux-x86-64.so.2", "libmpi.so.12"])
    ['libsycl.so.8', 'libmpi.so.12']
    """
    return [name for name in needed if not _SYSTEM.fullmatch(name)]


def dependencies_first(names: Sequence[str], needs: Callable[[str], Sequence[str]]) -> list[str]:
    """Return libraries in an order in which each comes after those that it needs, which are added.

    Args:
        names: The libraries.
        needs: Gives what a library needs.

    >>> dependencies_first(["b", "c"], {"a": [], "b": ["a", "c"], "c": ["a"]}.__getitem__)
    ['a', 'c', 'b']
    """
    ordered: dict[str, None] = {}
    waiting = set()

    def visit(name: str) -> None:
        if name not in waiting:
            waiting.add(name)
            for other in needs(name):
                visit(other)
            ordered[name] = None

    for name in names:
        visit(name)
    return list(ordered)


def preload_needed(
    plugin: Plugin, *, first: Sequence[Path], last: Sequence[Path], everywhere: bool, remedy: str
) -> Preloaded:
    """Open every library of the vendor that a plugin needs.

    Args:
        plugin: The plugin.
        first: Folders to look into before the dynamic linker does.
        last: Folders for the case that it finds none.
        everywhere: Whether the libraries' symbols serve all others.
        remedy: What installs them.

    Raises:
        VendorLibraryError: Some cannot be opened, so the plugin cannot either; the text has all of them.
    """
    extension = import_extension()
    needed = vendor_libraries(needed_libraries(plugin.package / plugin.library))
    order = dependencies_first(needed, lambda name: _needs(name, [*first, *last]))
    wanted = [Wanted(name, tuple(first), tuple(last)) for name in order]
    result = preload(wanted, lambda path: extension.preload(path, everywhere))
    if result.failed:
        raise VendorLibraryError(
            f"{plugin.distribution} needs {', '.join(result.failed)} (looked in {places(first, last)})",
            cause=next(iter(result.failed.values())),
            remedy=remedy,
        )
    return result


def _needs(name: str, folders: Sequence[Path]) -> list[str]:
    """Return what a library needs of the libraries that lie in the vendor's folders, as it does."""
    path = next((folder / name for folder in folders if (folder / name).is_file()), None)
    names = needed_libraries(path) if path is not None else []
    return [other for other in names if any((folder / other).is_file() for folder in folders)]


def describe_libraries(preloaded: Preloaded) -> list[str]:
    """Return the opened libraries for `python -m`."""
    return [
        row("libraries", f"{len(preloaded.opened)} of the vendor's opened"),
        *(row("", path) for path in preloaded.opened.values()),
    ]
