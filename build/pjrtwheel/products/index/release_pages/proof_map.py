# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The map of proofs: chips by wheels, and in each cell how strong the evidence is."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pjrtwheel.abis import name_python, python_order
from pjrtwheel.errors import count
from pjrtwheel.products.index.release_pages.releases import Release, Wheel
from pjrtwheel.record.proofs import ORDER, Level, Outcome, Proof, TargetProof

FAILED_AS_EXPECTED = "expected"  # the level of a cell that shows that a chip cannot be served
NOTHING = "none"
# What each level means to somebody who chooses a wheel.
LEGEND = {
    Level.DEVICE.value: "programs ran on the device itself",
    Level.AOT.value: "programs were compiled for the chip, which was not there",
    Level.LOAD.value: "the library was opened and answered",
    Level.STATIC.value: "the files were checked; nothing ran",
    FAILED_AS_EXPECTED: "known, and shown by a program that failed as expected",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """What is known about one chip and one wheel.

    Attributes:
        level: A level of proof, `expected`, or `none` where a wheel has nothing to do with a chip.
        text: What ran, in a few words.
        anchor: Identifier of the place where the page says all of it; empty if it says no more.
        page: The page of the wheel, for a cell that has no such place.
        proof: The proof that it is from.
        target: What was compiled for the chip, in full.
    """

    level: str = NOTHING
    text: str = ""
    anchor: str = ""
    page: str = ""
    proof: Proof | None = None
    target: TargetProof | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One chip, or one Python: its name, what is said about it in small letters, and a cell for each column."""

    label: str
    detail: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """One wheel, or the wheels of one system."""

    label: str
    detail: str
    wheel: Wheel | None = None


@dataclass(frozen=True, slots=True)
class Map:
    """Wheels that serve the same chips, over these chips."""

    title: str
    corner: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    def evidence(self) -> Iterator[tuple[Row, Column, Cell]]:
        """Yield the cells about which there is more to say."""
        for row in self.rows:
            yield from (
                (row, column, cell) for column, cell in zip(self.columns, row.cells, strict=True) if cell.anchor
            )


def plugin_maps(release: Release) -> tuple[Map, ...]:
    """Return a map for each group of wheels that were proven for the same chips, those with most chips first."""
    maps = sorted(map(_map_of, _group(release.plugins())), key=lambda found: -len(found.rows))
    taken: set[str] = set()
    return tuple(replace(found, rows=tuple(_name_anchors(row, taken) for row in found.rows)) for found in maps)


def _name_anchors(row: Row, taken: set[str]) -> Row:
    """Return a row whose anchors are identifiers that no other cell has, and that an address holds as they are."""
    return replace(row, cells=tuple(replace(cell, anchor=_name_anchor(cell.anchor, taken)) for cell in row.cells))


def _name_anchor(text: str, taken: set[str]) -> str:
    if not text:
        return ""
    plain = "-".join(["proof", *re.findall(r"[a-z0-9]+", text.lower())])
    numbered = (f"{plain}-{number}" for number in itertools.count(2))
    anchor = next(name for name in itertools.chain([plain], numbered) if name not in taken)
    taken.add(anchor)
    return anchor


def bindings_map(release: Release) -> Map | None:
    """Return the map of the bindings, Python by system; nothing if the release has none."""
    wheels = [wheel for wheel in release.wheels if wheel.is_bindings]
    systems = list(dict.fromkeys(wheel.system for wheel in wheels))
    if not release.pythons:
        return None
    rows = []
    for python in release.pythons:
        own = {wheel.system: wheel for wheel in wheels if wheel.python == python}
        cells = [_bindings_cell(own[system]) if system in own else Cell() for system in systems]
        rows.append(Row(f"Python {name_python(python)}", "free-threaded" if python.endswith("t") else "", tuple(cells)))
    return Map("JAX's bindings", "Python", tuple(Column(system, "") for system in systems), tuple(rows))


def _bindings_cell(wheel: Wheel) -> Cell:
    """Return the level that bindings have with some plugin, and below it what they have with each."""
    plugins: dict[Level, list[str]] = {}
    for proof in wheel.entry.proofs():
        if proof.backend and proof.level is not Level.STATIC:
            plugins.setdefault(proof.level, []).append(proof.backend)
    strongest = wheel.entry.proof.level
    texts = [f"{'' if level is strongest else f'{level} '}with {', '.join(names)}" for level, names in plugins.items()]
    return Cell(strongest.value, "; ".join(texts), page=wheel.page, proof=wheel.entry.proof)


def _group(wheels: Iterable[Wheel]) -> list[list[Wheel]]:
    """Put wheels together that share a chip, or are of one project."""
    groups: list[tuple[set[str], list[Wheel]]] = []
    for wheel in wheels:
        keys = {wheel.project, *(target.name for proof in wheel.entry.proofs() for target in proof.targets)}
        joined = [group for group in groups if group[0] & keys]
        others = [group for group in groups if not group[0] & keys]
        merged = (keys.union(*(group[0] for group in joined)), [*(w for group in joined for w in group[1]), wheel])
        groups = [*others, merged]
    return [sorted(found, key=lambda wheel: wheel.order) for _, found in groups]


def _map_of(wheels: Sequence[Wheel]) -> Map:
    targets = {target.name: target for wheel in wheels for proof in wheel.entry.proofs() for target in proof.targets}
    codes = {name: _codes(name, wheels) for name in targets}
    ordered = sorted(targets, key=lambda name: (_numbers(codes[name]), name))
    rows = [
        Row(targets[name].summary or name, codes[name], tuple(_target_cell(w, name) for w in wheels))
        for name in ordered
    ]
    rows += _device_rows(wheels)
    if not rows:
        rows = [Row("any device", "", tuple(_plain_cell(wheel) for wheel in wheels))]
    columns = tuple(Column(wheel.project, wheel.system, wheel) for wheel in wheels)
    return Map(", ".join(dict.fromkeys(wheel.project for wheel in wheels)), "Device", columns, tuple(rows))


def _codes(name: str, wheels: Iterable[Wheel]) -> str:
    """Return for which machine code a chip's programs were compiled, by any of the wheels."""
    found = {code: 0 for w in wheels for p in w.entry.proofs() for t in p.targets if t.name == name for code in t.code}
    return ", ".join(found)


def _numbers(code: str) -> tuple[int, ...]:
    """Return what orders chips by their generation; those without code come first: they are the oldest."""
    return tuple(map(int, re.findall(r"\d+", code)))


def _target_cell(wheel: Wheel, name: str) -> Cell:
    for proof in wheel.entry.proofs():
        target = next((target for target in proof.targets if target.name == name), None)
        if target is None:
            continue
        passed, all_of = len(target.programs(Outcome.PASSED)), len({c.program for c in target.compilations})
        anchor = f"{wheel.project} {wheel.entry.platform} {name}"
        if not passed:
            return Cell(FAILED_AS_EXPECTED, "as expected", anchor, proof=proof, target=target)
        level = Level.AOT.value if proof.level is not Level.DEVICE else proof.level.value
        emulated = ", emulated" if proof.emulated else ""
        return Cell(level, f"{passed} of {all_of} programs{emulated}", anchor, proof=proof, target=target)
    return _plain_cell(wheel)


def _plain_cell(wheel: Wheel) -> Cell:
    """Return what holds for a wheel whatever the chip."""
    weaker = min(wheel.entry.proof.level, Level.LOAD, key=ORDER.index)
    return Cell(weaker.value, "", page=wheel.page, proof=wheel.entry.proof)


def _device_rows(wheels: Sequence[Wheel]) -> Iterator[Row]:
    """Yield a row for each device that programs ran on."""
    found: dict[tuple[str, str], dict[str, Proof]] = {}
    for wheel in wheels:
        for proof in wheel.entry.proofs():
            if proof.level is Level.DEVICE and proof.machine is not None:
                chip, processor = proof.machine.chip, proof.machine.processor
                named = (processor, "") if chip in {"", proof.backend} else (chip, proof.machine.driver)
                found.setdefault(named, {})[wheel.entry.filename] = proof
    for (label, detail), proofs in found.items():
        cells = [_device_cell(wheel, proofs.get(wheel.entry.filename), label) for wheel in wheels]
        yield Row(label, detail, tuple(cells))


def _device_cell(wheel: Wheel, proof: Proof | None, device: str) -> Cell:
    if proof is None:
        return _plain_cell(wheel)
    anchor = f"{wheel.project} {wheel.entry.platform} device {device}"
    return Cell(Level.DEVICE.value, _programs(proof), anchor, proof=proof)


def _programs(proof: Proof) -> str:
    passed = {
        result.program for python in proof.pythons for result in python.results if result.outcome is Outcome.PASSED
    }
    return count(len(passed), "program")


def describe_pythons(proof: Proof) -> list[tuple[str, str, str]]:
    """Return the Pythons of a proof, what each showed, and why no more; those that showed the same are one row."""
    alike: dict[tuple[str, str], list[str]] = {}
    for python in sorted(proof.pythons, key=lambda found: python_order(found.python)):
        alike.setdefault((python.summary, "; ".join(python.missed)), []).append(name_python(python.python))
    return [(", ".join(versions), summary, missed) for (summary, missed), versions in alike.items()]
