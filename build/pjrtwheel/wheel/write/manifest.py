# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read the manifest that says what goes where in a wheel; the paths in it are not opened here."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pjrtwheel.errors import WheelError
from pjrtwheel.platforms import Platform, find_platform

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class PluginSpec:
    """What a plugin wheel is made from.

    Attributes:
        platform: The platform it is for.
        release: The release file.
        backend: The backend file.
        provider: `prebuilt`, `source` or `file-<sha256>`.
        readme: Description, in Markdown.
        provenance: Where the library came from, a JSON file.
        files: Path in the wheel → file on disk.
        licenses: File name below `licenses/` → file on disk.
        kernels: Python tag → libraries that JAX imports on that Python, or that those need.
        tools: Name → program that reads what the libraries hold.
        requirement: Distribution and exact version that carries the plugin library, where `files` does not.
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


@dataclass(frozen=True, slots=True)
class BindingsSpec:
    """What a `jaxlib` wheel is made from.

    Attributes:
        platform: The platform it is for.
        release: The release file.
        provider: `prebuilt`, `source` or `file-<sha256>`.
        python: Python tag, such as `cp312`.
        wheel: Upstream's wheel.
        backends: One backend file for each extra.
    """

    platform: Platform
    release: Path
    provider: str
    python: str
    wheel: Path
    backends: tuple[Path, ...]


def parse_manifest(text: str) -> PluginSpec | BindingsSpec:
    """Turn the text of a manifest into a specification.

    Raises:
        WheelError: Not JSON, of another schema or kind, or a key is missing, unknown or of the wrong type.
        UsageError: Unknown platform.
    """
    try:
        table: dict[str, Any] = json.loads(text)
        schema, kind = table.pop("schema"), table.pop("kind")
        if schema != SCHEMA:
            raise WheelError(f"manifest has schema {schema!r}, expected {SCHEMA}")
        if kind == "plugin":
            return _parse_plugin(table)
        if kind == "bindings":
            return _parse_bindings(table)
    except ValueError as error:
        raise WheelError("the manifest is not JSON", cause=str(error)) from error
    except (AttributeError, KeyError, TypeError) as error:
        raise WheelError(f"the manifest lacks or misspells {error}") from error
    raise WheelError(f"manifest is of kind {kind!r}, expected 'plugin' or 'bindings'")


def _parse_plugin(table: dict[str, Any]) -> PluginSpec:
    """Read the keys of kind `plugin`."""
    spec = PluginSpec(
        platform=find_platform(table.pop("platform")),
        release=Path(table.pop("release")),
        backend=Path(table.pop("backend")),
        provider=table.pop("provider"),
        readme=Path(table.pop("readme")),
        provenance=Path(table.pop("provenance")),
        files=_paths(table.pop("files")),
        licenses=_paths(table.pop("licenses")),
        kernels={python: tuple(map(Path, files)) for python, files in sorted(table.pop("kernels", {}).items())},
        tools=_paths(table.pop("tools", {})),
        requirement=table.pop("requirement", ""),
    )
    _check_unknown(table)
    return spec


def _parse_bindings(table: dict[str, Any]) -> BindingsSpec:
    """Read the keys of kind `bindings`."""
    spec = BindingsSpec(
        platform=find_platform(table.pop("platform")),
        release=Path(table.pop("release")),
        provider=table.pop("provider"),
        python=table.pop("python"),
        wheel=Path(table.pop("wheel")),
        backends=tuple(Path(path) for path in table.pop("backends")),
    )
    _check_unknown(table)
    return spec


def _paths(table: dict[str, str]) -> dict[str, Path]:
    """Read a table of paths, in order of its keys."""
    return {key: Path(path) for key, path in sorted(table.items())}


def _check_unknown(table: dict[str, Any]) -> None:
    """Refuse keys that nothing reads: they are misspelled, or meant for another version."""
    if table:
        raise WheelError(f"the manifest has unknown keys: {', '.join(sorted(table))}")
