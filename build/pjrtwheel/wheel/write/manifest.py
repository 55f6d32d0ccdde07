# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read the manifest that says what goes where in a wheel; the paths in it are not opened here."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pjrtwheel.errors import WheelError
from pjrtwheel.platforms import Platform, find_platform
from pjrtwheel.release.lock import ReleaseLock
from pjrtwheel.tables import TableError, read, read_json

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class PluginSpec:
    """What a plugin wheel is made from.

    Attributes:
        provider: `prebuilt`, `source` or `file-<sha256>`.
        provenance: Where the library came from, a JSON file.
        files: Path in the wheel → file on disk.
        licenses: File name below `licenses/` → file on disk.
        kernels: ABI tag of a Python → libraries that JAX imports on that Python, or that those need.
        tools: Name → program that reads what the libraries hold.
        requirement: Distribution and exact version that carries the plugin library, where `files` does not.
        lock: That of the published set which the wheel is for; nothing for a wheel of the set built here.
    """

    platform: Platform
    release: Path
    backend: Path
    provider: str
    readme: Path
    provenance: Path
    files: dict[str, Path]
    licenses: dict[str, Path]
    kernels: dict[str, tuple[Path, ...]] = field(default_factory=dict)
    tools: dict[str, Path] = field(default_factory=dict)
    requirement: str = ""
    lock: ReleaseLock | None = None


@dataclass(frozen=True, slots=True)
class BindingsSpec:
    """What a `jaxlib` wheel is made from.

    Attributes:
        provider: `prebuilt`, `source` or `file-<sha256>`.
        python: The Python, by its ABI tag, such as `cp312` or `cp314t`.
        wheel: Upstream's wheel.
        backends: One backend file for each extra.
    """

    platform: Platform
    release: Path
    provider: str
    python: str
    wheel: Path
    backends: tuple[Path, ...]


_KINDS: dict[object, type[PluginSpec | BindingsSpec]] = {"plugin": PluginSpec, "bindings": BindingsSpec}


def parse_manifest(text: str) -> PluginSpec | BindingsSpec:
    """Turn the text of a manifest into a specification; the order of its keys does not matter.

    Raises:
        WheelError: Not JSON, of another schema or kind, or a key is missing, unknown or of the wrong type.
        UsageError: Unknown platform.
    """
    try:
        given = read_json(dict[str, Any], text, "manifest")
        table = {key: dict(sorted(value.items())) if isinstance(value, dict) else value for key, value in given.items()}
        schema, kind = table.pop("schema", None), table.pop("kind", None)
        if schema != SCHEMA:
            raise WheelError(f"manifest has schema {schema!r}, expected {SCHEMA}")
        if kind not in _KINDS:
            raise WheelError(f"manifest is of kind {kind!r}, expected 'plugin' or 'bindings'")
        platform = find_platform(read(str, table.pop("platform", None), "manifest.platform"))
        return read(_KINDS[kind], table, "manifest", platform=platform)
    except TableError as error:
        raise WheelError(str(error)) from error
