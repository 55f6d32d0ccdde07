# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Open what a plugin library says it needs, where the vendor's libraries are no part of the system."""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import LibraryDamagedError, VendorLibraryError
from .library import needed_libraries
from .lock import pin
from .plugin import Plugin, import_extension
from .preload import Preloaded, Wanted, places, preload
from .report import row

logger = logging.getLogger(__name__)

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


@dataclass(frozen=True, slots=True)
class Vendor:
    """What a plugin's loader knows of its vendor's libraries.

    Attributes:
        folders: Gives where to look before the dynamic linker does, and where if it finds none.
        everywhere: Whether the libraries' symbols serve all others.
        remedy: Says what installs them.
    """

    folders: Callable[[Plugin], tuple[Sequence[Path], Sequence[Path]]]
    everywhere: bool
    remedy: Callable[[Plugin], str]


class NeededLibraries:
    """The vendor's libraries that a plugin cannot be opened without; they are opened once."""

    def __init__(self, plugin: Plugin, vendor: Vendor) -> None:
        """Open nothing yet.

        Args:
            plugin: The plugin.
            vendor: The vendor.
        """
        self._plugin = plugin
        self._vendor = vendor

    @functools.cached_property
    def preloaded(self) -> Preloaded:
        """The libraries, open.

        Raises:
            PluginError: The plugin's own library cannot be read, or some of the vendor's cannot be opened; the text has
                all of them.
        """
        plugin, vendor = self._plugin, self._vendor
        extension = import_extension()
        first, last = vendor.folders(plugin)
        order = dependencies_first(vendor_libraries(_needs_of(plugin)), lambda name: _needs(name, [*first, *last]))
        wanted = [Wanted(name, tuple(first), tuple(last)) for name in order]
        result = preload(wanted, lambda path: extension.preload(path, vendor.everywhere))
        if result.failed:
            raise VendorLibraryError(
                f"{plugin.distribution} needs {', '.join(result.failed)} (looked in {places(first, last)})",
                cause=next(iter(result.failed.values())),
                remedy=vendor.remedy(plugin),
            )
        return result

    def open(self) -> None:
        """Open the libraries.

        Raises:
            PluginError: See `preloaded`.
        """
        logger.debug("%s opened %s", self._plugin.distribution, self.preloaded.opened)

    def describe(self) -> list[str]:
        """Return the opened libraries for `python -m`."""
        opened = self.preloaded.opened
        rejected = [row("passed over", text) for text in self.preloaded.rejected]
        paths = [row("", path) for path in opened.values()]
        return [row("libraries", f"{len(opened)} of the vendor's opened"), *paths, *rejected]


def _needs_of(plugin: Plugin) -> list[str]:
    """Return what the plugin's library needs.

    Raises:
        LibraryDamagedError: That cannot be read from it.
    """
    try:
        return needed_libraries(plugin.package / plugin.library)
    except (OSError, ValueError) as error:
        raise LibraryDamagedError(
            f"the plugin library cannot be read: {error}",
            cause="the download or the installation did not finish",
            remedy=f"pip install --force-reinstall --no-deps {plugin.distribution}{pin(plugin.package)}",
        ) from error


def _needs(name: str, folders: Sequence[Path]) -> list[str]:
    """Return what a library needs of the libraries that lie in the vendor's folders, as it does.

    Of a file that is no library nothing is known: whether another of that name serves, the dynamic linker will tell.
    """
    path = next((folder / name for folder in folders if (folder / name).is_file()), None)
    try:
        names = needed_libraries(path) if path is not None else []
    except (OSError, ValueError) as error:
        logger.debug("%s", error)
        return []
    return [other for other in names if any((folder / other).is_file() for folder in folders)]
