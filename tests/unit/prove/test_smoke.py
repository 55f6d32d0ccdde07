# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Smoke programs run in processes of their own; here with this Python and programs that need no JAX."""

from __future__ import annotations

import os
import runpy
import signal
import subprocess
import sys
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from pjrtwheel.prove.inputs import find_programs
from pjrtwheel.prove.smoke import run_program, run_programs
from pjrtwheel.record.proofs import Level, Outcome

Run = Callable[..., tuple[Outcome, str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a factory: text of a program → outcome and detail."""

    def make(text: str, seconds: float = 30.0) -> tuple[Outcome, str]:
        program = tmp_path / "program.py"
        program.write_text(text)
        result = run_program(Path(sys.executable), program, None, seconds=seconds)
        assert result.program == "program"
        return result.outcome, result.detail

    return make


def test_an_assertion_that_fails_is_a_failure(run: Run) -> None:
    """The detail ends with the error, not with advice from a library."""
    outcome, detail = run("def check():\n    raise AssertionError('two is not three')")
    assert outcome is Outcome.FAILED
    assert detail.splitlines()[-1] == "AssertionError: two is not three"


def test_a_crash_is_named_by_its_signal(run: Run) -> None:
    """A dead process leaves no result; its signal is the detail."""
    outcome, detail = run("import os, signal\ndef check():\n    os.kill(os.getpid(), signal.SIGSEGV)")
    assert (outcome, detail.splitlines()[0]) == (Outcome.FAILED, "killed by SIGSEGV")


def test_a_hang_is_cut_off(run: Run) -> None:
    """A program beyond its time limit is a failure, and so are the children that it leaves waiting."""
    outcome, detail = run("import subprocess\ndef check():\n    subprocess.run(['sleep', '60'])", seconds=1)
    assert (outcome, detail) == (Outcome.FAILED, "did not end within 1 seconds")


def test_a_program_that_cannot_run_here_is_not_run(run: Run) -> None:
    """Skipping is neither success nor failure, and gives its reason."""
    outcome = run("import unittest\ndef check():\n    raise unittest.SkipTest('needs 4 devices')")
    assert outcome == (Outcome.NOT_RUN, "needs 4 devices")


def test_an_exit_is_no_success(run: Run) -> None:
    """A program that leaves by itself has shown nothing."""
    outcome, detail = run("import sys\ndef check():\n    sys.exit(0)")
    assert (outcome, detail.splitlines()[-1]) == (Outcome.FAILED, "SystemExit: 0")


def test_every_program_of_the_repository_says_what_it_checks(root: Path) -> None:
    """Each has a docstring and a function check, and there is one for each area that is promised."""
    programs = {path.stem: path.read_text("utf-8") for path in find_programs(root, "smoke")}
    assert set(programs) >= {
        "callbacks", "control_flow", "export_reload", "fft", "grad", "jit",
        "linalg", "memory", "processes", "profiler", "random_numbers", "sharding", "sort", "training", "vmap",
    }  # fmt: skip
    assert [name for name, text in programs.items() if "def check() -> str:" not in text or '"""' not in text] == []


@pytest.mark.parametrize(
    ("versions", "platform", "error"),
    [
        ((115, 115), "cpu", None),
        ((115, 115), "gpu", None),
        ((0, 0), "cpu", unittest.SkipTest),
        ((0, 0), "gpu", AssertionError),
        ((115, 0), "tpu", AssertionError),
    ],
)
def test_only_on_the_host_may_processes_do_without_the_plugin(
    root: Path, monkeypatch: pytest.MonkeyPatch, versions: tuple[int, int], platform: str, error: type[Exception] | None
) -> None:
    """On an accelerator a client that is no plugin is a failure, and no reason to skip."""
    monkeypatch.setitem(sys.modules, "jax", ModuleType("jax"))  # the program imports it, this part does not use it
    require = runpy.run_path(str(root / "tests/smoke/processes.py"))["require_plugin"]
    answers = [{"version": version} for version in versions]
    if error is None:
        require(answers, platform)
    else:
        with pytest.raises(error):
            require(answers, platform)


def test_levels_are_ordered_by_strength() -> None:
    """The order is what decides which level a wheel gets."""
    assert [level.value for level in Level] == ["static", "load", "aot", "device"]


@pytest.mark.parametrize(("jobs", "lines"), [(1, ["a not run", "b failed"]), (2, [])])
def test_programs_that_run_one_after_the_other_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], jobs: int, lines: list[str]
) -> None:
    """As on an accelerator, where all of them take minutes."""
    programs = [tmp_path / "a.py", tmp_path / "b.py"]
    for program, error in zip(programs, ("unittest.SkipTest", "ValueError"), strict=True):
        program.write_text(f"import unittest\ndef check():\n    raise {error}('why')")
    results = run_programs(Path(sys.executable), programs, None, jobs=jobs)
    said = [line.split() for line in capsys.readouterr().err.splitlines()]
    assert [" ".join([name, *outcome]) for name, _, _, *outcome in said] == lines
    assert [result.outcome for result in results] == [Outcome.NOT_RUN, Outcome.FAILED]


INTERRUPTED = """
import sys
from pathlib import Path
from pjrtwheel.program import run_main
from pjrtwheel.prove.smoke import run_programs
from pjrtwheel.files import staging_folder

def work(arguments):
    place, *programs = map(Path, arguments)
    with staging_folder(place):
        run_programs(Path(sys.executable), programs, None, jobs=2)
    return 0

sys.exit(run_main(work, None))
"""
WAITING = """
import os, time
def check():
    os.mkdir(f"{folder}/{os.getpid()}.pid")
    time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_neither_processes_nor_environments(root: Path, tmp_path: Path, number: int) -> None:
    """SIGTERM comes from nox where the user's interrupt did not reach the tool itself."""
    programs = [tmp_path / f"{name}.py" for name in "abc"]
    for program in programs:
        program.write_text(f"folder = {str(tmp_path)!r}{WAITING}")
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "cache"), *map(str, programs)]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "build"), *sys.path])}
    with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) as process:
        while len(found := list(tmp_path.glob("*.pid"))) != 2:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (130, "error: interrupted\n")
    assert [path for path in found if Path("/proc", path.stem).exists()] == []
    assert list((tmp_path / "cache").iterdir()) == []
    assert sorted(tmp_path.glob("*.pid")) == sorted(found), "nothing is begun after it"
