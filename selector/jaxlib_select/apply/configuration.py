# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which files of a project, and which variables, add package indexes to those that uv and pip are given.

What the user or the system is configured for is theirs, and not looked at.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jaxlib_select.apply.installer import Installer

# uv asks the index of UV_DEFAULT_INDEX instead of the one of `--index-url`.
_VARIABLES = {
    "uv": ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"),
    "pip": ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"),
}
_PIP_KEYS = re.compile(r"^\s*(extra[-_]index[-_]url|find[-_]links)\s*[=:]", re.MULTILINE)


def find_added_indexes(installer: Installer, folder: Path, environ: Mapping[str, str]) -> list[str]:
    """Return the variables that add an index or a folder of wheels to those given, and the file of the project."""
    found = [name for name in _VARIABLES[installer.kind] if installer.sources and environ.get(name)]
    if installer.kind == "uv":
        given = environ.get("UV_CONFIG_FILE", "")
        return [*found, *_find_uv_file(folder, given, replaced="--index-url" in installer.sources)]
    file = Path(environ.get("PIP_CONFIG_FILE", ""))
    adds = installer.sources and file.is_file() and _PIP_KEYS.search(file.read_text("utf-8", "replace"))
    return [*found, *([str(file)] if adds else [])]


def _find_uv_file(folder: Path, given: str, *, replaced: bool) -> list[str]:
    """Return the file that uv is configured by, the given one or from a folder upwards, if it adds an index."""
    found = (place / name for place in (folder, *folder.parents) for name in ("uv.toml", "pyproject.toml"))
    for path in [Path(given)] if given else found:
        try:
            document: Any = tomllib.loads(path.read_text("utf-8"))
            table = document["tool"]["uv"] if path.name == "pyproject.toml" else document
            return [str(path)] if any(_adds(part, replaced=replaced) for part in (table, table.get("pip", {}))) else []
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            continue  # there is none, or uv says what is wrong with it
    return []


def _adds(table: Mapping[str, Any], *, replaced: bool) -> bool:
    """Return whether a table of uv adds an index; `--index-url` replaces a default one."""
    indexes = [entry for entry in table.get("index", ()) if not entry.get("explicit")]
    others = [entry for entry in indexes if not (replaced and entry.get("default"))]
    return bool(others or any(map(table.get, ("extra-index-url", "find-links", *([] if replaced else ["index-url"])))))
