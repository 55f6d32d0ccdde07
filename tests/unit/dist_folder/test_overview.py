# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The table at the end of a build."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pjrtwheel.dist_folder.overview import print_overview
from pjrtwheel.record.entries import Entry
from pjrtwheel.record.proofs import Level, Outcome, ProgramResult, Proof, PythonProof
from pjrtwheel.wheel.names import parse_name
from proven_wheels import ORIGIN, make_small_entry

PASSED = ProgramResult("jit", Outcome.PASSED, Level.DEVICE, 1.0, "")
SKIPPED = ProgramResult("pmap", Outcome.NOT_RUN, Level.DEVICE, 1.0, "one device")
TAGS = "cp312.cp314.cp315-abi3.abi3t.cp314t-manylinux_2_27_x86_64"


def make_entry(filename: str, distribution: str, *pythons: PythonProof, **changes: Any) -> Entry:
    """Return an entry with what some Pythons showed."""
    level = Level.DEVICE if any(python.results for python in pythons) else Level.STATIC
    proof = Proof(level, None, pythons, ORIGIN, (), "cpu")
    return replace(make_small_entry(filename, distribution), proof=proof, **changes)


def overview_of(entries: list[Entry], width: int, **options: Any) -> list[str]:
    """Return the lines on a terminal of some width."""
    console = Console(file=io.StringIO(), record=True, width=width)
    print_overview(entries, Path("dist"), console=console, **options)
    return [line.rstrip() for line in console.export_text().splitlines()]


ENTRIES = [
    make_entry(
        "jaxlib-1.2.3-cp312-cp312-manylinux_2_27_x86_64.whl",
        "jaxlib",
        PythonProof("cp312", "3.12.1", (PASSED, PASSED, SKIPPED)),
        size=76_240_000,
    ),
    make_entry(
        "jaxlib-1.2.3-cp314-cp314t-manylinux_2_27_x86_64.whl",
        "jaxlib",
        PythonProof("cp314t", "", (), "no interpreter"),
        size=76_300_000,
    ),
    make_entry(
        f"jaxlib_cpu-1.2.3-{TAGS}.whl",
        "jaxlib-cpu",
        *(PythonProof(python, f"3.{python[3:]}.1", (PASSED, SKIPPED)) for python in ("cp312", "cp313")),
        size=162_600_000,
    ),
    make_entry("other-1.2.3-py3-none-any.whl", "other", size=1),
]
NAMES = [entry.filename for entry in ENTRIES]


def test_eighty_columns() -> None:
    """One line for each wheel of the build, and one about what else is there."""
    assert overview_of(ENTRIES, 80, built=NAMES[:3]) == [
        "wheel                     MB  proof            passed/skipped/failed",
        "jaxlib cp312            76.2  device with cpu  2/1/0",
        "jaxlib cp314t           76.3  static           not run",
        "jaxlib-cpu cp312-abi3  162.6  device           2/2/0",
        "3 wheels in dist/, with 1 wheel of other builds; details: release.json there",
    ]


@pytest.mark.parametrize("width", [80, 120, 300])
def test_no_more_than_eighty_columns(width: int) -> None:
    """However wide the terminal is, or what a log takes for its width."""
    lines = overview_of(ENTRIES, width)
    assert len(lines) == 1 + len(ENTRIES) + 1
    assert max(map(len, lines)) <= 80


def test_forty_columns() -> None:
    """All is there, on more lines; nothing is wider than the terminal."""
    lines = overview_of(ENTRIES[:1], 40)
    assert max(map(len, lines)) <= 40
    assert [word for word in ("jaxlib", "76.2", "device", "2/1/0") if word not in " ".join(lines)] == []


def test_the_short_name_of_a_wheel() -> None:
    """It has what differs between the wheels of a set, and nothing else."""
    assert [parse_name(name).short for name in NAMES] == [
        "jaxlib cp312",
        "jaxlib cp314t",
        "jaxlib-cpu cp312-abi3",
        "other py3",
    ]
