# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read `plugins/<name>/backend.toml`: all that the tooling knows about an accelerator."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pjrtwheel.errors import UsageError


@dataclass(frozen=True, slots=True)
class Prebuilt:
    """Where the plugin library is found inside a wheel of the package index.

    Attributes:
        project: Project name on the index.
        version: Version to pin, with `{release}` standing for the JAX release.
        member: Path of the library inside that wheel.
        platforms: Platforms for which the index has such a wheel.
    """

    project: str
    version: str
    member: str
    platforms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """How Bazel builds the plugin library from XLA.

    Attributes:
        label: Label of the shared library in `@xla`.
        configs: `--config` names of `.bazelrc` to build it with.
    """

    label: str
    configs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Backend:
    """One accelerator and the wheel that carries it.

    Attributes:
        name: Directory below `plugins/` and suffix of `nox -s build_<name>`.
        distribution: Project name of the wheel, such as `jaxlib-cpu`.
        package: Import package inside the wheel, such as `jaxlib_cpu`.
        summary: One line for the wheel's metadata.
        pjrt_name: The name under which the plugin is registered with JAX, such as `cpu`.
        extra: Extra of `jaxlib` that requires this wheel.
        library: File name of the PJRT plugin inside the package.
        python_tag: Oldest CPython whose stable ABI the extension needs, such as `cp312`.
        exports: Dynamic symbols the library may define; the first must be present.
        tags: Platform name → platform tag of the wheel.
        requires: Further requirements, beyond the exact `jaxlib`.
        disable: Environment variable that, set to 1, leaves JAX as it was without this wheel.
        prebuilt: Provider of the library from the index.
        source: Provider of the library from XLA's source.
        path: The file all this was read from.
    """

    name: str
    distribution: str
    package: str
    summary: str
    pjrt_name: str
    extra: str
    library: str
    python_tag: str
    exports: tuple[str, ...]
    tags: dict[str, str]
    requires: tuple[str, ...]
    disable: str
    prebuilt: Prebuilt
    source: Source
    path: Path


def parse_backend(text: str, path: Path) -> Backend:
    """Turn the text of a `backend.toml` into a `Backend`.

    Raises:
        UsageError: The text is not TOML, or a key is missing, unknown or of the wrong type.
    """
    try:
        table: dict[str, Any] = tomllib.loads(text)
        prebuilt, source = table["prebuilt"], table["source"]
        return Backend(
            name=path.parent.name,
            distribution=table["distribution"],
            package=table["package"],
            summary=table["summary"],
            pjrt_name=table["pjrt_name"],
            extra=table["extra"],
            library=table["library"],
            python_tag=table["python_tag"],
            exports=tuple(table["exports"]),
            tags=dict(table["tags"]),
            requires=tuple(table["requires"]),
            disable=table["disable"],
            prebuilt=Prebuilt(
                prebuilt["project"], prebuilt["version"], prebuilt["member"], tuple(prebuilt["platforms"])
            ),
            source=Source(source["label"], tuple(source["configs"])),
            path=path,
        )
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"not a TOML file: {path}", cause=str(error)) from error
    except (KeyError, TypeError) as error:
        raise UsageError(f"backend file {path} lacks or misspells {error}") from error


def load_backends(root: Path) -> dict[str, Backend]:
    """Read every `plugins/*/backend.toml` below `root`, by name and in order of name."""
    return {
        path.parent.name: parse_backend(path.read_text("utf-8"), path)
        for path in sorted((root / "plugins").glob("*/backend.toml"))
    }


def find_backend(root: Path, name: str) -> Backend:
    """Return the backend of this name.

    Raises:
        UsageError: No such backend; the message lists those there are.
    """
    backends = load_backends(root)
    if name not in backends:
        raise UsageError(f"unknown backend: {name!r}", remedy=f"known backends: {', '.join(backends)}")
    return backends[name]
