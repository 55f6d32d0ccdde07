# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The releases of an index as its pages show them: wheels of one version belong together.

The map of proofs has chips by wheels, and in each cell how strong the evidence is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from urllib.parse import quote

from packaging.version import Version

from pjrtwheel.abis import name_python, name_pythons, python_order
from pjrtwheel.grouping import group
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.products.index.projects import IndexedFile, Project
from pjrtwheel.record.entries import Entry
from pjrtwheel.record.proofs import ORDER, Level, Outcome, Proof, TargetProof
from pjrtwheel.sets import BINDINGS, PURE_PYTHON
from pjrtwheel.wheel.names import NULL, WheelName, fits, parse_name

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
    def label(self) -> str:
        """What distinguishes it from the other wheels of its project: its system, its Python, its variant."""
        if self.name.label == NULL:
            return "any other machine"
        python = f"Python {name_python(self.python)}" if self.python else ""
        return ", ".join(filter(None, (self.system, python, self.name.label)))

    @property
    def order(self) -> tuple[int, str, int, str, tuple[bool, tuple[int, int]]]:
        """What wheels are ordered by: bindings, plugins with kernels, tools; then by system, and by Python."""
        kind = 0 if self.is_bindings else 2 if self.project in PURE_PYTHON else 1
        python = python_order(self.python) if self.python else (False, (0, 0))
        return kind, self.project, self.system_order, self.name.label, python

    @property
    def system_order(self) -> int:
        """The place of its system among all; those for any system are last."""
        return [*PLATFORMS, self.entry.platform].index(self.entry.platform)

    @property
    def python(self) -> str:
        """The one Python that it is for, by its ABI tag; empty for a wheel of several or any."""
        return self.name.python

    @property
    def is_bindings(self) -> bool:
        """Whether it is JAX's bindings for one Python."""
        return self.project == BINDINGS

    @property
    def is_plugin(self) -> bool:
        """Whether it is the package of an accelerator, or of the CPU; kernels are for one Python."""
        return not self.python and self.project not in PURE_PYTHON

    @property
    def library_version(self) -> str:
        """The release of JAX that its library is of, where that is another one than its own; else empty."""
        override = self.entry.provenance.get("override")
        return str(override.get("version", "")) if isinstance(override, Mapping) else ""

    def pythons(self, release: ListedRelease) -> str:
        """Return which Pythons of a release it is for, those that it has kernels for, or what it says itself."""
        here = [wheel for wheel in release.wheels if wheel.entry.platform == self.entry.platform and self.is_plugin]
        kernels = {wheel.python for wheel in here if wheel.python and wheel.project.startswith(f"{self.project}-")}
        tags = [one for one in release.pythons if fits(self.name.tag, one) and (one in kernels or not kernels)]
        return name_pythons(tags) or self.file.requires_python or self.name.tag.split("-")[0]


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

    def rows(self) -> dict[str, list[list[Wheel]]]:
        """Return project → its wheels as rows: those of one system with the same proof share one, for their Pythons."""
        found = group((wheel.project, wheel) for wheel in self.wheels)
        return {project: list(group(map(_row_of, wheels)).values()) for project, wheels in found.items()}


def _row_of(wheel: Wheel) -> tuple[tuple[str, ...], Wheel]:
    shown = wheel.system, wheel.entry.proof.level, *wheel.entry.devices()
    return shown if wheel.python else (wheel.label,), wheel


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


NOT_SERVED = "expected"  # the level of a cell that shows that a chip cannot be served
PARTIAL = "partial"  # that of a chip for which some programs cannot be compiled


@dataclass(frozen=True, slots=True)
class Cell:
    """What is known about one chip and one wheel.

    Attributes:
        level: A level of proof, `partial` or `expected`; empty where the wheel was tried for other chips only.
        text: What ran, in a few words.
        page: The page of the wheel, where that says all there is to say.
        proofs: The proofs that say more otherwise.
        target: What was compiled for the chip, in full.
        device: What programs ran on, where the chip is called otherwise.
    """

    level: str
    text: str = ""
    page: str = ""
    proofs: tuple[Proof, ...] = ()
    target: TargetProof | None = None
    device: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One chip.

    Attributes:
        label: Its name.
        detail: What programs are compiled for, such as `sm_89`.
        family: Those that run the same code, as the install picker calls them.
        cells: One for each wheel.
    """

    label: str
    detail: str
    family: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Map:
    """The wheels of projects that serve the same chips, over these.

    Attributes:
        projects: Names of the projects.
        wheels: Those that something is known of for a chip, by system; all plugins if nothing is of any.
        others: Those of which nothing is known for a chip.
        rows: One for each chip, with a cell for each of `wheels`.
    """

    projects: tuple[str, ...]
    wheels: tuple[Wheel, ...]
    others: tuple[Wheel, ...]
    rows: tuple[Row, ...]

    def tried(self) -> frozenset[str]:
        """Return the Pythons, by ABI tag, on which anything was tried with one of `wheels`."""
        proofs = (proof for wheel in self.wheels for proof in wheel.entry.proofs())
        return frozenset(one.python for proof in proofs for one in proof.pythons if one.results)


def make_maps(release: ListedRelease, families: Mapping[str, str] = MappingProxyType({})) -> list[Map]:
    """Return maps of the accelerator packages, the longest first, then of the bindings.

    Packages that were compiled for the same chips share one; `families` has what a target stands for.
    """
    wheels = group((wheel.project, wheel) for wheel in release.wheels if wheel.is_plugin or wheel.is_bindings)
    chips = {name: {target.name for wheel in of for _, target in _targets_of(wheel)} for name, of in wheels.items()}
    firsts: dict[str, str] = {}
    for name, of_name in chips.items():
        firsts[name] = next((first for other, first in firsts.items() if chips[other] & of_name), name)
    joined = group((firsts[name], wheel) for name, of in wheels.items() for wheel in of)
    maps = [_map_of(of, families) for of in joined.values()]
    return sorted(maps, key=lambda found: (BINDINGS in found.projects, -len(found.rows)))


def _targets_of(wheel: Wheel) -> Iterator[tuple[Proof, TargetProof]]:
    """Yield what was compiled for each chip, with the proof that it is part of."""
    return ((proof, target) for proof in wheel.entry.proofs() for target in proof.targets)


def _map_of(wheels: Sequence[Wheel], families: Mapping[str, str]) -> Map:
    chips = _name_chips(wheels)
    family = {named: families[name] for name, named in chips.items() if name in families}
    # The strongest proof of a wheel comes first; of several that say something about a chip it counts.
    both = [(wheel, dict(reversed(list(_cells_of(wheel, chips))))) for wheel in wheels]
    shown = [(wheel, cells) for wheel, cells in both if cells] or [one for one in both if one[0].is_plugin]
    shown.sort(key=lambda one: one[0].system_order)
    devices = dict.fromkeys(named for _, cells in shown for named in cells if named not in chips.values())
    rows = [
        Row(*named, family.get(named, ""), tuple(_cell_of(wheel, cells, named) for wheel, cells in shown))
        for named in [*devices, *chips.values()] or [("any device", "")]
    ]
    others = tuple(wheel for wheel, cells in both if not cells and len(shown) < len(both))
    projects = tuple(dict.fromkeys(wheel.project for wheel in wheels))
    return Map(projects, tuple(wheel for wheel, _ in shown), others, tuple(rows))


def _name_chips(wheels: Iterable[Wheel]) -> dict[str, tuple[str, str]]:
    """Return what to call each chip that programs were compiled for, by generation; those without code are oldest."""
    targets = [target for wheel in wheels for _, target in _targets_of(wheel)]
    targets.sort(key=lambda target: (bool(target.code), target.name))
    chips = {target.name: (target.summary or target.name, ", ".join(target.code)) for target in targets}
    return dict(sorted(chips.items(), key=lambda chip: [int(number) for number in re.findall(r"\d+", chip[1][1])]))


def _cells_of(wheel: Wheel, chips: Mapping[str, tuple[str, str]]) -> Iterator[tuple[tuple[str, str], Cell]]:
    """Yield what was shown on a device, or for a chip, by what that is called; a device may be such a chip."""
    for device, proofs in wheel.entry.devices().items():
        named = next((chips[name] for name in chips if name in proofs[0].device_words()), (device, ""))
        ran = replace(proofs[0], pythons=tuple(one for proof in proofs for one in proof.pythons))
        pythons = name_pythons({one.python for one in ran.pythons if one.level is Level.DEVICE})
        backends = ", ".join(dict.fromkeys(proof.backend for proof in proofs if proof.backend))
        parts = [f"{number} {outcome}" for outcome, number in ran.outcomes().items()]
        parts += [f"with {backends}" if backends and wheel.is_bindings else f"Python {pythons}"]
        other = "" if named[0] == device else device
        yield named, Cell(Level.DEVICE.value, ", ".join(parts), proofs=tuple(proofs), device=other)
    for proof, target in _targets_of(wheel):
        yield chips[target.name], _target_cell(proof, target)


def _target_cell(proof: Proof, target: TargetProof) -> Cell:
    passed, failed = target.programs(Outcome.PASSED), target.programs(Outcome.EXPECTED)
    if not passed:
        reasons = (entry.detail for entry in target.compilations if entry.outcome is Outcome.EXPECTED)
        return Cell(NOT_SERVED, next(reasons, ""), proofs=(proof,), target=target)
    pythons = name_pythons(one.python for one in proof.pythons if target.name in one.compiled())
    number = f"{len(passed)} of {len({entry.program for entry in target.compilations})} programs"
    parts = (number, pythons and f"Python {pythons}", f"not {', '.join(failed)}" if failed else "")
    text = ", ".join(filter(None, (*parts, "emulated" if proof.emulated else "")))
    return Cell(PARTIAL if failed else Level.AOT.value, text, proofs=(proof,), target=target)


def _cell_of(wheel: Wheel, cells: Mapping[tuple[str, str], Cell], named: tuple[str, str]) -> Cell:
    """Return what is known of a wheel for a chip; where no chip was tried, what holds whatever the chip."""
    whatever = Cell(min(wheel.entry.proof.level, Level.LOAD, key=ORDER.index).value, page=wheel.page)
    return cells.get(named, Cell("")) if cells else whatever
