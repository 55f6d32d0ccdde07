# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""List what a release takes from the package index; all of this is functions from values to values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pjrtwheel.backend import Backend, merge_tools
from pjrtwheel.errors import PinError
from pjrtwheel.tables import TableError, read_toml


@dataclass(frozen=True, slots=True)
class Input:
    """An entry of `releases/inputs.toml`: one file for each platform and Python.

    Attributes:
        key: Dotted place in the release file, with `{python}` and `{platform}` to be filled in.
        project: Project name on the index.
        version: Version to pin, with `{release}` standing for the JAX release.
        platforms: Platforms the files are for.
        pythons: Python tags the files are for; a single empty one for a file that is the same for all.
    """

    key: str
    project: str
    version: str
    platforms: tuple[str, ...]
    pythons: tuple[str, ...] = ("",)


@dataclass(frozen=True, slots=True)
class _Inputs:
    """The file `releases/inputs.toml`."""

    input: tuple[Input, ...]


@dataclass(frozen=True, slots=True)
class WantedFile:
    """One file to be found on the index; of a version that ends in `.*` pip takes the newest."""

    key: str
    project: str
    version: str
    platform: str
    python: str = ""


def plan_inputs(text: str, backends: Iterable[Backend], release: str) -> tuple[WantedFile, ...]:
    """List every file that a release takes from the index.

    They are what the text of `releases/inputs.toml` names, and the prebuilt library, kernels and tools of each backend.

    Raises:
        PinError: The text is not TOML, or an entry lacks a key.
        UsageError: Two backends mean different tools by one name.
    """
    try:
        inputs = [
            WantedFile(
                key=entry.key.format(python=python, platform=platform),
                project=entry.project,
                version=entry.version.format(release=release),
                platform=platform,
                python=python,
            )
            for entry in read_toml(_Inputs, text).input
            for platform in entry.platforms
            for python in entry.pythons
        ]
    except TableError as error:
        raise PinError("malformed file: releases/inputs.toml", cause=str(error)) from error
    except (KeyError, ValueError) as error:
        raise PinError(f"releases/inputs.toml has an unknown placeholder: {error}") from error
    known = tuple(backends)
    tools = [
        WantedFile(f"tool.{name}.{platform}", tool.project, tool.version, platform)
        for name, tool in merge_tools(known).items()
        for platform in tool.platforms
    ]
    return (*inputs, *(wanted for backend in known for wanted in _plan_backend(backend, release)), *tools)


def _plan_backend(backend: Backend, release: str) -> Iterator[WantedFile]:
    library, kernels = backend.prebuilt, backend.kernels
    for platform in library.platforms:
        version = library.version.format(release=release)
        yield WantedFile(f"plugin.{backend.name}.{platform}", library.project, version, platform, library.python)
    if kernels:
        version = kernels.version.format(release=release)
        for platform in kernels.platforms:
            for python in kernels.pythons:
                key = f"kernels.{backend.name}.{python}.{platform}"
                yield WantedFile(key, kernels.project, version, platform, python)
