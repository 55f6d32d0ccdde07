# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a plugin library says about itself: its PJRT API, extensions and attributes."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import LibraryDamagedError
from .library import needed_libraries, vendor_libraries
from .plugin import OpenedPlugin, import_extension


@functools.cache
def _extension_names() -> list[str]:
    """Return PJRT_Extension_Type of pjrt_c_api.h (PJRT C API 0.115), in its order from 0 on; new ones come last."""
    names: list[str] = json.loads(Path(__file__).with_name("pjrt_extensions.json").read_text("utf-8"))
    return names


@dataclass(frozen=True, slots=True)
class PluginLibrary:
    """The plugin's own library.

    Attributes:
        path: The file that JAX would open; None if it is not known.
        needed: Names of the libraries that it cannot be opened without, those of every Linux aside.
        opened: Whether it was opened; what follows is empty if not.
        pjrt_api: Major and minor version of its PJRT API.
        extensions: PJRT's names of its extensions.
        attributes: What it states about itself.
    """

    path: Path | None
    needed: tuple[str, ...] = ()
    opened: bool = False
    pjrt_api: tuple[int, int] | None = None
    extensions: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)


def _extension_name(kind: int) -> str:
    """Return PJRT's name of an extension.

    >>> _extension_name(5), _extension_name(99)
    ('FFI', '99')
    """
    names = _extension_names()
    return names[kind] if 0 <= kind < len(names) else str(kind)


def has_extension(api: Any, name: str) -> bool:
    """Return whether an opened plugin has an extension."""
    return _extension_names().index(name) in dict(import_extension().extensions(api))


def describe_library(opened: OpenedPlugin) -> PluginLibrary:
    """Return what an opened plugin says about itself.

    Raises:
        LibraryDamagedError: It does not say what it is.
    """
    extension = import_extension()
    try:
        return PluginLibrary(
            path=opened.path,
            needed=needed_by(opened.path),
            opened=True,
            pjrt_api=extension.api_version(opened.api),
            extensions=tuple(_extension_name(kind) for kind, _ in extension.extensions(opened.api)),
            attributes=extension.attributes(opened.api),
        )
    except RuntimeError as error:
        raise LibraryDamagedError(f"{opened.path} does not say what it is: {error}") from error


def needed_by(path: Path | None) -> tuple[str, ...]:
    """Return what a library needs of others than the system's; nothing if that cannot be read from it."""
    try:
        return tuple(vendor_libraries(needed_libraries(path))) if path is not None else ()
    except (OSError, ValueError):
        return ()
