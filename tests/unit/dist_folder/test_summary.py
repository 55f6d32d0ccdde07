# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The summary of finished wheels, as a build prints it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pjrtwheel.dist_folder import add_wheels
from pjrtwheel.dist_folder.summary import describe_level, describe_pythons, print_summary
from pjrtwheel.record.entries import Entry, make_entry, merge_entries
from pjrtwheel.record.proofs import Level, Outcome, ProgramResult, Proof, PythonProof, TargetProof
from proven_wheels import COMPILED, ORIGIN, RAN, UNTRIED, make_proof, make_small_entry, make_wheel


@pytest.mark.parametrize(
    ("targets", "cell"),
    [
        ({}, "aot"),
        ({"h100": ["sm_90a"]}, "aot: 1 target (h100)"),
        (
            {"h100": ["sm_90a"], "t4": ["sm_75"], "v100": []},
            "aot: 2 targets (h100, t4), 1 target failed as expected (v100)",
        ),
        ({"tpu7x": ["tpu6"], "v5e": ["tpu4-lite"]}, "aot: 2 targets (tpu7x, v5e)"),
    ],
    ids=["none", "one", "several, and one that cannot be", "names that differ from those of the code"],
)
def test_the_level_shows_what_was_compiled_for(targets: dict[str, list[str]], cell: str) -> None:
    """Chips go by their own names, and those that gave no code are counted apart."""
    listed = tuple(TargetProof(name, "", tuple(code), 1.0, ()) for name, code in targets.items())
    proof = Proof(Level.AOT, None, (), ORIGIN, listed, "tpu")
    assert describe_level(replace(make_small_entry("a.whl", "jaxlib-tpu"), proof=proof)) == cell


def test_the_row_of_bindings_names_the_backends(tmp_path: Path) -> None:
    """Each level, and what each Python showed, is said of the plugin that it was shown with."""
    wheel, _ = make_wheel(tmp_path, "jaxlib")
    proofs = [make_proof(Level.DEVICE, RAN), make_proof(Level.AOT, COMPILED, backend="cuda13")]
    entries = [make_entry(wheel.report, proof, ORIGIN) for proof in proofs]
    (merged,) = merge_entries({wheel.report.wheel: entries[0]}, entries[1:], [wheel.report.wheel]).values()
    untried = make_entry(wheel.report, make_proof(Level.STATIC, UNTRIED), ORIGIN)
    assert (describe_level(untried), describe_pythons(untried)) == ("static", "3.12: not run: smoke tests switched off")
    assert describe_level(merged) == "device with cpu; aot with cuda13"
    assert describe_pythons(merged) == "3.12 with cpu: 1 program passed; 3.12 with cuda13: 1 target passed"


def test_pythons_that_showed_the_same_share_their_words() -> None:
    """In the order in which they were proven."""
    passed = ProgramResult("jit", Outcome.PASSED, Level.DEVICE, 1.0, "")
    pythons = [PythonProof(python, "", (passed, passed)) for python in ("cp312", "cp313")]
    proof = Proof(Level.DEVICE, None, (*pythons, PythonProof("cp314", "", (), "no interpreter")), ORIGIN, (), "cpu")
    entry = replace(make_small_entry("a.whl", "jaxlib-cpu"), proof=proof)
    assert describe_pythons(entry) == "3.12, 3.13: 2 programs passed; 3.14: not run: no interpreter"


def summary_of(entries: Sequence[Entry], dist: Path, **options: Any) -> list[str]:
    """Return the lines of a summary."""
    console = Console(file=io.StringIO(), record=True, **options)
    print_summary(entries, dist, console)
    return console.export_text().splitlines()


def test_each_wheel_is_summed_up_from_its_entry(tmp_path: Path) -> None:
    """In a log nothing is wrapped or cropped; the folder is that which was given."""
    made = [make_wheel(tmp_path, name) for name in ("jaxlib_a", "jaxlib_b")]
    wheels, proofs = [wheel for wheel, _ in made], {wheel.report.wheel: proof for wheel, proof in made}
    entries = add_wheels(wheels, [proofs], ORIGIN, tmp_path / "dist")
    assert summary_of(entries, Path("wheels [old]"), width=20, soft_wrap=True) == [
        "wheels [old]/",
        *(
            line
            for wheel in wheels
            for line in (
                wheel.report.wheel,
                "  0.0 MB, 0.0 MB dropped, PJRT 0.115, lock ff",
                "  load",
                "  3.14: not run: no interpreter",
            )
        ),
    ]


def test_what_nothing_is_known_of_has_no_line() -> None:
    """A wheel without proofs has no blank line for its Pythons."""
    entry = replace(make_small_entry("a.whl", "jaxlib-auto"), proof=Proof(Level.STATIC, None, (), ORIGIN))
    lines = summary_of([entry], Path("dist"), width=80, soft_wrap=True)
    assert lines[-1] == "  static"
    assert all(map(str.strip, lines))


def test_a_summary_fits_the_terminal(tmp_path: Path) -> None:
    """Whatever is said of the Pythons, nothing of it is cut off."""
    wheel, _ = make_wheel(tmp_path, "jaxlib_of_some_length")
    pythons = [replace(UNTRIED, python=f"cp3{minor}", reason=f"a reason for {minor}") for minor in range(10, 30)]
    lines = summary_of([make_entry(wheel.report, make_proof(Level.STATIC, *pythons), ORIGIN)], Path("dist"), width=40)
    assert max(map(len, lines)) <= 40
    assert "".join(lines[1:3]) == wheel.report.wheel
    said = " ".join(line.strip() for line in lines[3:])
    assert [minor for minor in range(10, 30) if f"not run: a reason for {minor}" not in said] == []
