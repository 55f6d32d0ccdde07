# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Open what a plugin library says it needs, where the vendor's libraries are no part of the system."""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import Remedy, VendorLibraryError
from .library import needed_libraries, vendor_libraries
from .plugin import Plugin, import_extension
from .preload import Preloaded, Wanted, places, preload, survey
from .vendor import Vendor

logger = logging.getLogger(__name__)


def dependencies_first(names: Sequence[str], needs: Callable[[str], Sequence[str]]) -> list[str]:
    """Return libraries in an order in which each comes after those that it needs, which are added.

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


@dataclass(frozen=True)
class NeededLibraries:
    """The vendor's libraries that a plugin cannot be opened without; they are opened once.

    Attributes:
        plugin: The plugin.
        folders: Gives where to look before the dynamic linker does, and where if it finds none.
        remedy: Says what installs them.
        everywhere: Whether the libraries' symbols serve all others.
    """

    plugin: Plugin
    folders: Callable[[], tuple[Sequence[Path], Sequence[Path]]]
    remedy: Callable[[], Remedy]
    everywhere: bool = False

    @functools.cached_property
    def wanted(self) -> tuple[Wanted, ...]:
        """Which libraries there should be, each after those that it needs, and where they are looked for."""
        first, last = self.folders()
        needed = vendor_libraries(needed_libraries(self.plugin.package / self.plugin.library))
        order = dependencies_first(needed, lambda name: _needs(name, [*first, *last]))
        return tuple(Wanted(name, tuple(first), tuple(last)) for name in order)

    @functools.cached_property
    def preloaded(self) -> Preloaded:
        """What became of them."""
        extension = import_extension()
        return preload(self.wanted, lambda path: extension.preload(path, self.everywhere))

    def open(self) -> None:
        """Open the libraries.

        Raises:
            VendorLibraryError: Some cannot be opened; the text has all of them.
        """
        failed = self.preloaded.failed
        if failed:
            raise VendorLibraryError(
                f"{self.plugin.distribution} needs {', '.join(failed)} (looked in {places(*self.folders())})",
                cause=next(iter(failed.values())),
                remedy=self.remedy(),
            )
        logger.debug("%s opened %s", self.plugin.distribution, self.preloaded.opened)

    def survey(self, nodes: Sequence[str], devices: Sequence[str], *, opening: bool) -> Vendor:
        """Return the libraries, and the hardware that a caller found."""
        preloaded = self.preloaded if opening else None
        return Vendor(
            libraries=tuple(survey(self.wanted, preloaded, os.environ.get("LD_LIBRARY_PATH", ""), needed=True)),
            rejected=preloaded.rejected if preloaded is not None else (),
            nodes=tuple(nodes),
            devices=tuple(devices),
        )


def _needs(name: str, folders: Sequence[Path]) -> list[str]:
    """Return what a library needs of the libraries that lie in the vendor's folders, as it does.

    Of a file that is no library nothing is known; the dynamic linker decides whether another of that name will do.
    """
    path = next((folder / name for folder in folders if (folder / name).is_file()), None)
    try:
        names = needed_libraries(path) if path is not None else []
    except (OSError, ValueError) as error:
        logger.debug("%s", error)
        return []
    return [other for other in names if any((folder / other).is_file() for folder in folders)]
