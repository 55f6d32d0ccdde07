# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The table of finished wheels, as a build prints it."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from pjrtwheel.prove.level import Level
from pjrtwheel.prove.results import Outcome, ProgramResult, Proof, PythonProof, TargetProof
from pjrtwheel.publish import publish
from pjrtwheel.publish.release_file import make_entry, merge_entries
from pjrtwheel.publish.summary import describe_level, describe_pythons, make_table, render_table
from published_wheels import COMPILED, ORIGIN, RAN, UNTRIED, make_proof, make_small_entry, make_wheel


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
    entries = [make_entry(wheel.report, proof) for proof in proofs]
    (merged,) = merge_entries({wheel.report.wheel: entries[0]}, entries[1:], [wheel.report.wheel]).values()
    untried = make_entry(wheel.report, make_proof(Level.STATIC, UNTRIED))
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


def test_the_table_has_a_row_for_each_wheel(tmp_path: Path) -> None:
    """The table and its cells come from the entries alone."""
    made = [make_wheel(tmp_path, name) for name in ("jaxlib_a", "jaxlib_b")]
    entries = publish(
        [wheel for wheel, _ in made], {wheel.report.wheel: proof for wheel, proof in made}, tmp_path / "dist"
    )
    assert make_table(entries, tmp_path).row_count == 2
    assert describe_pythons(entries[0]) == "3.14: not run: no interpreter"


def test_names_stay_whole_in_a_log(tmp_path: Path) -> None:
    """However much is said of the Pythons, each row has the file's name in one piece."""
    wheel, _ = make_wheel(tmp_path, "jaxlib_of_some_length")
    long = [replace(UNTRIED, python=f"cp3{minor}", reason="a long reason for it") for minor in range(10, 30)]
    entry = make_entry(wheel.report, make_proof(Level.STATIC, *long))
    console = Console(width=170, record=True, file=io.StringIO())
    render_table([entry], Path("wheels [old]"), console)
    text = console.export_text()
    assert wheel.report.wheel in text
    assert text.splitlines()[0].strip() == "wheels [old]/", "the folder is that which was given"
