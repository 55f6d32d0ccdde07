# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Targets are data: what is wrong in a file is said, and what is expected of a chip is checked both ways."""

from dataclasses import replace
from pathlib import Path

import pytest

from folders import write_files
from pjrtwheel.backend import Failure, find_backend
from pjrtwheel.errors import UsageError
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.prove.aot import judge, prove_target, read_log, summarize_target
from pjrtwheel.prove.inputs import Target, Topology, choose_targets, load_targets, parse_target
from pjrtwheel.record.proofs import Compilation, Level, Outcome, ResultKind
from release_under_test import ROOT

TEXT = (ROOT / "tests/data/chip_target.toml").read_text("utf-8")
TARGET = Target(
    name="chip",
    summary="A chip",
    platform="cuda",
    code=("sm_90a",),
    topologies={
        "single": Topology("v:1x1", {"bounds": [1, 1], "topology": "1x1x1"}),
        "slice": Topology(programs=("collective",)),
    },
    options={"target_config": "core_count: 1"},
    environment={"QUIET": "1"},
    fails={"pallas": Failure("No .* found", "not known")},
)
SORT = Compilation("sort", "single", 1, 0.5, ("sm_90a",), ("cub",))
PALLAS = Compilation("pallas", "single", 1, 0.5, error="RuntimeError: No GPU found\nTraceback ...")


def test_a_file_is_read() -> None:
    """Every key has its place."""
    assert parse_target(TEXT, Path("targets/chip.toml")) == TARGET


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('summary = "A chip"', "", "lacks summary"),
        ("[1, 1]", '["1"]', r"topologies.single.options.bounds\[0\]"),
        ('"No .* found"', '"No ( found"', "fails.pallas: 'No \\( found' is not a regular expression"),
        ('"not known"', '" "', "fails.pallas: error and reason must not be empty"),
        ('programs = ["collective"]', 'program = "collective"', "topologies.slice has unknown keys program"),
    ],
    ids=["missing", "option", "pattern", "no reason", "nested"],
)
def test_what_is_wrong_in_a_file_is_said(old: str, new: str, what: str) -> None:
    """A slip of the pen is no target that is quietly passed over."""
    with pytest.raises(UsageError, match=what):
        parse_target(TEXT.replace(old, new), Path("chip.toml"))


def test_own_targets_take_precedence(root: Path, tmp_path: Path) -> None:
    """What backends share is theirs; what one says of its own about the same chip completes it, key by key."""
    own = 'code = ["sm_2"]\n[fails.sort]\nerror = "too old"\nreason = "not by us"\n'
    shared = {"shared/targets/chip.toml": TEXT, "shared/targets/another.toml": TEXT}
    write_files(tmp_path / "plugins", {**shared, "mine/targets/chip.toml": own})
    backend = replace(find_backend(root, "cpu"), name="mine", shared=("shared",))
    own_chip = replace(TARGET, code=("sm_2",), fails={"sort": Failure("too old", "not by us")})
    assert load_targets(tmp_path, backend) == (replace(TARGET, name="another"), own_chip)


NVIDIA = ["a100", "a6000", "b200", "gb200", "gb300", "gh200", "h100", "l4", "rtx_pro_6000", "t4", "thor"]
ARM = ["gb200", "gh200", "thor"]


def test_chips_of_arm_machines_are_compiled_for_on_arm_machines(root: Path) -> None:
    """Elsewhere nobody has them; where the machine is emulated there is time for those alone, and for few programs."""
    targets = load_targets(root, find_backend(root, "cuda13"))
    chosen = {
        (platform, emulated): choose_targets(targets, platform, emulated=emulated)
        for platform in PLATFORMS
        for emulated in (False, True)
    }
    names = {key: [target.name for target in found] for key, found in chosen.items()}
    assert names["linux_aarch64", False] == [*NVIDIA, "v100"]
    assert names["linux_x86_64", True] == ["gb300"]
    assert names["linux_x86_64", False] == [name for name in names["linux_aarch64", False] if name not in ARM]
    assert names["linux_aarch64", True] == sorted([*ARM, "gb300"])
    for target in chosen["linux_aarch64", True]:
        compiled = [name for topology in target.topologies.values() for name in topology.programs]
        assert set(compiled) == set(target.emulated)


@pytest.mark.parametrize(
    ("compilation", "outcome", "named"),
    [
        (SORT, Outcome.PASSED, ()),
        (PALLAS, Outcome.EXPECTED, ("not known",)),
        (replace(SORT, code=()), Outcome.FAILED, ("none", "sm_90a")),
        (replace(SORT, code=("sm_80", "sm_90a")), Outcome.FAILED, ("sm_80, sm_90a", "sm_90a is expected")),
        (replace(SORT, code=(), error="it broke"), Outcome.FAILED, ("it broke",)),
        (replace(PALLAS, error="", code=("sm_90a",)), Outcome.FAILED, ("chip.toml", "not known")),
        (replace(PALLAS, error="another one\nbelow"), Outcome.FAILED, ("No .* found", "another one")),
    ],
    ids=["code", "known failure", "no code", "more code", "failure", "no failure", "other failure"],
)
def test_a_compilation_is_judged_by_the_file(
    compilation: Compilation, outcome: Outcome, named: tuple[str, ...]
) -> None:
    """Only the expected code counts, and only the expected error; an expected failure that passes is an error too."""
    judged = judge(TARGET, compilation)
    assert (judged.outcome, judged.error) == (outcome, compilation.error.partition("\n")[0])
    assert [value for value in named if value not in judged.detail] == []


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        ("killed by SIGSEGV\nW1121 Falling back; ptxas does not support CC 7.0\nFatal Python error", Outcome.EXPECTED),
        ("killed by SIGSEGV\nFatal Python error: Segmentation fault", Outcome.FAILED),
    ],
    ids=["after the refusal", "for another reason"],
)
def test_a_crash_is_expected_only_after_the_words_of_the_refusal(root: Path, error: str, outcome: Outcome) -> None:
    """The plugin for CUDA 13 does not survive the refusal of a V100 in a loop; any other crash is a failure."""
    v100 = load_targets(root, find_backend(root, "cuda13"))[-1]
    compilation = Compilation("scan", "single", 0, 0.0, error=error)
    assert (v100.name, judge(v100, compilation).outcome) == ("v100", outcome)


@pytest.mark.parametrize(
    ("compilations", "outcome", "level", "detail"),
    [
        ([SORT, PALLAS], Outcome.PASSED, Level.AOT, "sm_90a: 1 program compiled, pallas failed as expected: not known"),
        ([SORT, replace(SORT, topology="slice")], Outcome.PASSED, Level.AOT, "sm_90a: 1 program compiled"),
        ([PALLAS], Outcome.EXPECTED, Level.STATIC, "0 programs compiled, all failed as expected: not known"),
        ([SORT, replace(SORT, program="fft", error="it broke\nthere")], Outcome.FAILED, None, "fft (single): it broke"),
    ],
    ids=["some", "arrangements", "none", "surprise"],
)
def test_a_target_becomes_one_result(
    compilations: list[Compilation], outcome: Outcome, level: Level | None, detail: str
) -> None:
    """The level needs code that came out; a program counts once; the detail says what did not come out, and why."""
    result = summarize_target(prove_target(TARGET, compilations, 2.04))
    assert (result.program, result.outcome, result.detail, result.seconds) == ("aot chip", outcome, detail, 2.0)
    assert (result.kind, result.level) == (ResultKind.TARGET, level or result.level)


def test_what_a_dying_process_had_begun_is_its_result(tmp_path: Path) -> None:
    """Programs before keep their results; one that had begun ends with the way the process did."""
    (tmp_path / "log").write_text(
        '{"topology": "single", "program": "conv"}\n'
        '{"topology": "single", "program": "conv", "devices": 1, "error": "bad", "seconds": 1.5}\n'
        '{"topology": "single", "program": "scan"}\n'
    )
    assert list(read_log(tmp_path, "killed by SIGSEGV")) == [
        Compilation("conv", "single", 1, 1.5, error="bad"),
        Compilation("scan", "single", 0, 0.0, error="killed by SIGSEGV"),
    ]
    assert list(read_log(tmp_path / "nothing", "killed")) == []
    (tmp_path / "log").write_text('{"topology": "single", "program": "scan"}\n{"topology": "single", "progr')
    assert list(read_log(tmp_path, "cut off")) == [Compilation("scan", "single", 0, 0.0, error="cut off")]


def test_an_executable_that_cannot_be_read_fails_its_program_alone(tmp_path: Path) -> None:
    """The other programs keep their results."""
    (tmp_path / "odd").write_bytes(b"\xff")
    (tmp_path / "log").write_text(
        '{"topology": "single", "program": "conv", "devices": 1, "file": "odd", "seconds": 1.5}\n'
        '{"topology": "single", "program": "scan", "devices": 1, "error": "bad", "seconds": 0.5}\n'
    )
    conv, scan = read_log(tmp_path, "")
    assert (conv.program, conv.code, conv.error.partition(":")[0]) == ("conv", (), "the executable cannot be read")
    assert scan == Compilation("scan", "single", 1, 0.5, error="bad")
