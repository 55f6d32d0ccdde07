# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The releases of an index as its pages show them: wheels of one version belong together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

from packaging.version import Version

from pjrtwheel.abis import name_python, python_order
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.products.index.projects import IndexedFile, Project
from pjrtwheel.record.entries import Entry
from pjrtwheel.sets import BINDINGS, PURE_PYTHON
from pjrtwheel.wheel.names import WheelName, fits, parse_name

_SYSTEMS = {"linux": "Linux", "macos": "macOS", "windows": "Windows"}
_ARCHITECTURES = {"amd64": "x86_64"}


@dataclass(frozen=True, slots=True)
class Wheel:
    """One wheel on the pages: what `release.json` says of it, and what the index offers."""

    entry: Entry
    file: IndexedFile

    @property
    def project(self) -> str:
        """Normalized name of its project."""
        return self.file.project

    @property
    def name(self) -> WheelName:
        """Its file name in its parts."""
        return parse_name(self.entry.filename)

    @property
    def page(self) -> str:
        """File name of its own page."""
        return f"{self.entry.filename.removesuffix('.whl')}.html"

    @property
    def link(self) -> str:
        """The wheel itself, as a page in the folder of the pages links to it."""
        # Addresses that are relative are so to the page of the project, which is as deep.
        return self.file.url or f"../{quote(self.project)}/{quote(self.file.filename)}"

    @property
    def system(self) -> str:
        """Operating system and processor as people say them, or that it is for any."""
        platform = PLATFORMS.get(self.entry.platform)
        if platform is None:
            return "any system"
        architecture = _ARCHITECTURES.get(platform.architecture, platform.architecture)
        return f"{_SYSTEMS[platform.system]} {architecture}"

    @property
    def order(self) -> tuple[int, str, int, str, tuple[bool, tuple[int, int]]]:
        """What wheels are ordered by: bindings, plugins with kernels, tools; then by system, and by Python."""
        kind = 0 if self.is_bindings else 2 if self.project in PURE_PYTHON else 1
        places = {name: place for place, name in enumerate(PLATFORMS)}
        python = python_order(self.python) if self.python else (False, (0, 0))
        return kind, self.project, places.get(self.entry.platform, len(places)), self.name.label, python

    @property
    def python(self) -> str:
        """The one Python that it is for, by its ABI tag; empty for a wheel of several or any."""
        abi = self.name.tag.split("-")[1]
        return abi if re.fullmatch(r"cp\d{2,}t?", abi) else ""

    @property
    def is_bindings(self) -> bool:
        """Whether it is JAX's bindings for one Python."""
        return self.project == BINDINGS

    @property
    def is_plugin(self) -> bool:
        """Whether it is the package of an accelerator, or of the CPU; kernels are for one Python."""
        return not self.python and self.project not in PURE_PYTHON

    def pythons(self, release: ListedRelease) -> str:
        """Return which Pythons of a release it is for, or that it is for any."""
        if self.name.tag.startswith("py3-"):
            return "any"
        tags = [python for python in release.pythons if fits(self.name.tag, python)]
        return ", ".join(map(name_python, tags)) or self.name.tag.split("-")[0]


@dataclass(frozen=True, slots=True)
class ListedRelease:
    """The wheels of one version.

    Attributes:
        version: Version of the wheels, with the label of their set.
        wheels: Bindings first, then plugins, then tools.
        newest: Whether no other release of the index is newer.
    """

    version: str
    wheels: tuple[Wheel, ...]
    newest: bool

    @property
    def jax(self) -> str:
        """The version of JAX that it is for."""
        return Version(self.version).public

    @property
    def suffix(self) -> str:
        """What distinguishes the names of its pages from those of the newest release."""
        return "" if self.newest else f"-{self.version}"

    @property
    def pythons(self) -> tuple[str, ...]:
        """The Pythons that it has bindings for, by ABI tag, free-threaded ones last."""
        tags = {wheel.python for wheel in self.wheels if wheel.is_bindings}
        return tuple(sorted(tags - {""}, key=python_order))

    def pythons_of(self, platform: str) -> tuple[str, ...]:
        """Return those of one platform."""
        here = {wheel.python for wheel in self.wheels if wheel.is_bindings and wheel.entry.platform == platform}
        return tuple(python for python in self.pythons if python in here)

    def plugins(self) -> tuple[Wheel, ...]:
        """Return the wheels of accelerators."""
        return tuple(wheel for wheel in self.wheels if wheel.is_plugin)


def list_releases(projects: Iterable[Project]) -> tuple[ListedRelease, ...]:
    """Return the releases of an index, the newest first.

    Wheels without a lock, such as those of a tool, have versions of their own: they go with every release.
    """
    files = (file for project in projects for file in project.files)
    wheels = sorted((Wheel(file.entry, file) for file in files if file.entry), key=lambda wheel: wheel.order)
    locked = [wheel for wheel in wheels if wheel.entry.lock_id] or wheels
    versions = sorted({wheel.entry.version for wheel in locked}, key=Version, reverse=True)
    return tuple(
        ListedRelease(
            version,
            tuple(wheel for wheel in wheels if wheel not in locked or wheel.entry.version == version),
            version == versions[0],
        )
        for version in versions
    )
