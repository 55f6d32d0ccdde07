# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The map of proofs: chips by wheels, and in each cell how strong the evidence is."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from pjrtwheel.errors import count
from pjrtwheel.products.index.release_pages.releases import ListedRelease, Wheel
from pjrtwheel.record.proofs import ORDER, Level, Outcome, Proof, TargetProof

FAILED_AS_EXPECTED = "expected"  # the level of a cell that shows that a chip cannot be served
NOTHING = "none"


@dataclass(frozen=True, slots=True)
class Cell:
    """What is known about one chip and one wheel.

    Attributes:
        level: A level of proof, `expected`, or `none` where a wheel has nothing to do with a chip.
        text: What ran, in a few words.
        page: The page of the wheel, where that says all there is to say.
        proof: The proof that says more otherwise.
        target: What was compiled for the chip, in full.
    """

    level: str = NOTHING
    text: str = ""
    page: str = ""
    proof: Proof | None = None
    target: TargetProof | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One chip: its name, what is said about it in small letters, and a cell for each wheel."""

    label: str
    detail: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Map:
    """The wheels of one project, one for each system, over the chips that they serve."""

    project: str
    wheels: tuple[Wheel, ...]
    rows: tuple[Row, ...]


def make_maps(release: ListedRelease) -> list[Map]:
    """Return a map for each accelerator package."""
    return [_map_of(name, tuple(wheels)) for name, wheels in groupby(release.plugins(), lambda wheel: wheel.project)]


def _targets_of(wheel: Wheel) -> Iterator[tuple[Proof, TargetProof]]:
    """Yield what was compiled for each chip, with the proof that it is part of."""
    return ((proof, target) for proof in wheel.entry.proofs() for target in proof.targets)


def _map_of(project: str, wheels: tuple[Wheel, ...]) -> Map:
    chips = _name_chips(wheels)
    # The strongest proof of a wheel comes first; of several that say something about a chip it counts.
    cells = [dict(reversed(list(_cells_of(wheel, chips)))) for wheel in wheels]
    devices = dict.fromkeys(named for found in cells for named in found if named not in chips.values())
    rows = []
    for named in [*chips.values(), *devices] or [("any device", "")]:
        row = (found.get(named, _plain_cell(wheel)) for wheel, found in zip(wheels, cells, strict=True))
        rows.append(Row(*named, tuple(row)))
    return Map(project, wheels, tuple(rows))


def _name_chips(wheels: Iterable[Wheel]) -> dict[str, tuple[str, str]]:
    """Return what to call each chip that programs were compiled for, by generation; those without code are oldest."""
    targets = [target for wheel in wheels for _, target in _targets_of(wheel)]
    chips = {}
    for name in sorted({target.name for target in targets}):
        own = [target for target in targets if target.name == name]
        codes = dict.fromkeys(code for target in own for code in target.code)
        chips[name] = (own[-1].summary or name, ", ".join(codes))
    return dict(sorted(chips.items(), key=lambda chip: [int(number) for number in re.findall(r"\d+", chip[1][1])]))


def _cells_of(wheel: Wheel, chips: Mapping[str, tuple[str, str]]) -> Iterator[tuple[tuple[str, str], Cell]]:
    """Yield what was shown for a chip, or on a device, by what that is called."""
    for proof, target in _targets_of(wheel):
        yield chips[target.name], _target_cell(proof, target)
    for proof in wheel.entry.proofs():
        if proof.level is Level.DEVICE and proof.machine is not None:
            chip, processor = proof.machine.chip, proof.machine.processor
            named = (processor, "") if chip in {"", proof.backend} else (chip, proof.machine.driver)
            results = [result for python in proof.pythons for result in python.results]
            passed = {result.program for result in results if result.outcome is Outcome.PASSED}
            yield named, Cell(Level.DEVICE.value, count(len(passed), "program"), proof=proof)


def _target_cell(proof: Proof, target: TargetProof) -> Cell:
    passed, all_of = len(target.programs(Outcome.PASSED)), len({entry.program for entry in target.compilations})
    if not passed:
        return Cell(FAILED_AS_EXPECTED, "as expected", proof=proof, target=target)
    level = proof.level if proof.level is Level.DEVICE else Level.AOT
    emulated = ", emulated" if proof.emulated else ""
    return Cell(level.value, f"{passed} of {all_of} programs{emulated}", proof=proof, target=target)


def _plain_cell(wheel: Wheel) -> Cell:
    """Return what holds for a wheel whatever the chip."""
    weaker = min(wheel.entry.proof.level, Level.LOAD, key=ORDER.index)
    return Cell(weaker.value, page=wheel.page)
