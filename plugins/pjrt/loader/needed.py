# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Open what a plugin library says it needs, where the vendor's libraries are no part of the system."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
    wanted = [
        Wanted(soname, tuple(first), tuple(last))
        for soname in vendor_libraries(needed_libraries(plugin.package / plugin.library))
    ]
    result = preload(wanted, lambda path: extension.preload(path, everywhere))
    if result.failed:
        raise VendorLibraryError(
            f"{plugin.distribution} needs {', '.join(result.failed)} (looked in {places(first, last)})",
            cause=next(iter(result.failed.values())),
            remedy=remedy,
        )
    return result


def describe_libraries(preloaded: Preloaded) -> list[str]:
    """Return the opened libraries for `python -m`."""
    return [
        row("libraries", f"{len(preloaded.opened)} of the vendor's opened"),
        *(row("", path) for path in preloaded.opened.values()),
    ]
