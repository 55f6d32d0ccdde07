# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is printed of finished wheels: a line for each, all that is known of each, and a table in Markdown."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.dist_folder.printing import describe_level, describe_pythons, print_wheels
from pjrtwheel.record.entries import Entry, add_proofs_to
from pjrtwheel.record.proofs import Level, Outcome, ProgramResult, Proof, ProofMachine, PythonProof, TargetProof
from proven_wheels import COMPILED, ORIGIN, RAN, UNTRIED, make_proof, make_small_entry
from release_entries import entry_of
from terminal_output import text_of

PASSED = ProgramResult("jit", Outcome.PASSED, Level.DEVICE, 1.0, "")
SKIPPED = ProgramResult("pmap", Outcome.NOT_RUN, Level.DEVICE, 1.0, "one device")
TAGS = "cp312.cp314.cp315-abi3.cp314t.cp315t-manylinux_2_27_x86_64"


def make_entry(filename: str, size: int, *pythons: PythonProof) -> Entry:
    """Return an entry with what some Pythons showed."""
    level = Level.DEVICE if any(python.results for python in pythons) else Level.STATIC
    return entry_of(filename, lock_id="a", size=size, proof=Proof(level, None, pythons, ORIGIN, (), "cpu"))


def lines_of(entries: list[Entry], width: int, **options: Any) -> list[str]:
    """Return the lines on a terminal of some width."""
    text = text_of(lambda console: print_wheels(entries, Path("dist"), console=console, **options), width)
    return [line.rstrip() for line in text.splitlines()]


NAMES = [
    "jaxlib-1.2.3-cp312-cp312-manylinux_2_27_x86_64.whl",
    "jaxlib-1.2.3-cp314-cp314t-manylinux_2_27_x86_64.whl",
    "jaxlib_cpu-1.2.3-cp312.cp314.cp315-abi3.abi3t.cp314t-manylinux_2_27_x86_64.whl",
    "other-1.2.3-py3-none-any.whl",
]
BOTH = [PythonProof(python, f"3.{python[3:]}.1", (PASSED, SKIPPED)) for python in ("cp312", "cp313")]
ENTRIES = [
    make_entry(NAMES[0], 76_240_000, PythonProof("cp312", "3.12.1", (PASSED, PASSED, SKIPPED))),
    make_entry(NAMES[1], 76_300_000, PythonProof("cp314t", "", (), "no interpreter")),
    make_entry(NAMES[2], 162_600_000, *BOTH),
    make_entry(NAMES[3], 1),
]
ENTRIES[2] = replace(ENTRIES[2], proof=replace(ENTRIES[2].proof, origin=replace(ORIGIN, signed_off_by="A Tester")))


def test_eighty_columns() -> None:
    """One line for each wheel of the build, and one about what else is there."""
    assert lines_of(ENTRIES, 80, built=NAMES[:3]) == [
        "wheel                     MB  proof             passed/skipped/failed",
        "jaxlib cp312            76.2  device with cpu   1/1/0",
        "jaxlib cp314t           76.3  static            not run",
        "jaxlib-cpu cp312-abi3  162.6  device elsewhere  1/1/0",
        "3 wheels in dist/, with 1 wheel of other builds; details: release.json there",
    ]


@pytest.mark.parametrize("width", [40, 80, 300])
def test_no_more_columns_than_there_are_and_eighty_at_most(width: int) -> None:
    """Whatever is said, nothing of it is cut off."""
    pythons = [replace(UNTRIED, python=f"cp3{minor}", reason=f"reason {minor}") for minor in range(10, 30)]
    entry = make_entry(NAMES[2], 162_600_000, *pythons)
    details, table = lines_of([entry], width, details=True), lines_of([entry], width)
    assert max(map(len, details)) <= width
    assert max(map(len, table)) <= min(width, 80)
    said = " ".join(line.strip() for line in details)
    assert [minor for minor in range(10, 30) if f"not run: reason {minor}" not in said] == []


@pytest.mark.parametrize(
    ("targets", "cell"),
    [
        ({}, "aot"),
        (
            {"h100": ["sm_90a"], "t4": ["sm_75"], "v100": []},
            "aot: 2 targets (h100, t4), 1 target failed as expected (v100)",
        ),
    ],
)
def test_the_level_shows_what_was_compiled_for(targets: dict[str, list[str]], cell: str) -> None:
    """Chips go by their own names, and those that gave no code are counted apart."""
    listed = tuple(TargetProof(name, "", tuple(code), 1.0, ()) for name, code in targets.items())
    proof = Proof(Level.AOT, None, (), ORIGIN, listed, "tpu")
    assert describe_level(replace(make_small_entry("a.whl", "jaxlib-tpu"), proof=proof)) == cell


def test_what_bindings_showed_is_said_of_the_plugin_that_they_showed_it_with() -> None:
    """Each level, and what each Python showed."""
    entry = replace(make_small_entry(NAMES[0], "jaxlib"), proof=make_proof(Level.STATIC, UNTRIED))
    assert (describe_level(entry), describe_pythons(entry)) == ("static", ["3.12: not run: smoke tests switched off"])
    newer, chip = replace(RAN, python="cp313"), ProofMachine("", "", "Abacus 3000", 1)
    ran = [replace(make_proof(Level.DEVICE, *pythons), machine=chip) for pythons in ((RAN,), (newer, UNTRIED))]
    merged = add_proofs_to(entry, [*ran, make_proof(Level.AOT, COMPILED, backend="cuda13")])
    assert describe_level(merged) == "device with cpu on Abacus 3000; aot with cuda13"
    assert describe_pythons(merged) == ["3.12, 3.13 with cpu: 1 program passed", "3.12 with cuda13: 1 target passed"]
    assert describe_pythons(ENTRIES[2]) == ["3.12, 3.13: 1 program passed, 1 program not run"]
