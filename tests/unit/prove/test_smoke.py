# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Smoke programs run in processes of their own; here with this Python and programs that need no JAX."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from pjrtwheel.backend import Failure, Smoke
from pjrtwheel.prove.on_python import judge, run_program
from pjrtwheel.record.proofs import Level, Outcome, ProgramResult
from release_under_test import BACKENDS


@pytest.mark.parametrize(
    ("body", "outcome", "said"),
    [
        ("raise AssertionError('two is not three')", Outcome.FAILED, "AssertionError: two is not three"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", Outcome.FAILED, "killed by SIGSEGV"),
        ("subprocess.run(['sleep', '60'])", Outcome.FAILED, "did not end within 2 seconds"),
        ("sys.exit(0)", Outcome.FAILED, "SystemExit: 0"),
        ("raise unittest.SkipTest('needs 4 devices')", Outcome.NOT_RUN, "needs 4 devices"),
    ],
    ids=["assertion", "crash", "hang with a child", "exit", "skipped"],
)
def test_how_a_program_ends(tmp_path: Path, body: str, outcome: Outcome, said: str) -> None:
    """The detail has the error and no advice of a library; one that leaves by itself has shown nothing."""
    program = tmp_path / "program.py"
    program.write_text(f"import os, signal, subprocess, sys, unittest\ndef check():\n    {body}")
    result = run_program(Path(sys.executable), program, None, seconds=2)
    assert (result.program, result.outcome) == ("program", outcome)
    lines = result.detail.splitlines()
    assert said in {lines[0], lines[-1]}


DECLARED = {"program": Failure("no double|SIGSEGV", "the chip has no doubles")}


@pytest.mark.parametrize(
    ("before", "detail", "after", "said"),
    [
        (Outcome.FAILED, "Traceback\nValueError: no doubles", Outcome.EXPECTED, "the chip has no doubles"),
        (Outcome.FAILED, "killed by SIGSEGV", Outcome.EXPECTED, "the chip has no doubles"),
        (Outcome.FAILED, "two is not three", Outcome.FAILED, "another error than 'no double|SIGSEGV'"),
        (Outcome.PASSED, "ran", Outcome.FAILED, "it does not fail, though it is declared to: the chip has no doubles"),
        (Outcome.NOT_RUN, "needs 4 devices", Outcome.NOT_RUN, "needs 4 devices"),
    ],
    ids=["declared", "crash", "another error", "no failure", "skipped"],
)
def test_what_a_backend_cannot_run_is_declared(before: Outcome, detail: str, after: Outcome, said: str) -> None:
    """A declared failure counts as such with its own error alone, and a program that does not fail is an error."""
    result = ProgramResult("program", before, Level.DEVICE, 1.0, detail)
    judged = judge(result, replace(BACKENDS["cpu"], smoke=Smoke(DECLARED)))
    assert (judged.outcome, said in judged.detail.splitlines()[-1]) == (after, True)
    assert judge(result, None) == result


INTERRUPTED = """
import sys
from pathlib import Path
from pjrtwheel.program import run_main
from pjrtwheel.prove.on_python import run_programs
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
