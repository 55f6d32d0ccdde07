# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the command line needs to start."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pjrtwheel.environment.interpreters import find_interpreters

# The dependency group `build` has none of these; the tests' environment has.
ABSENT = "import sys; sys.modules.update(pytest=None, hypothesis=None, jax=None, jaxlib=None)"


def test_commands_start_without_the_tests_packages(root: Path) -> None:
    """Every subcommand has its options in an environment that has neither pytest nor JAX."""
    program = f"{ABSENT}; from pjrtwheel.cli import COMMANDS, make_parser; print(*map(make_parser, COMMANDS))"
    environ = os.environ | {"PYTHONPATH": os.pathsep.join([str(root / "build"), str(root / "selector")])}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environ)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_older_python_gets_one_line(root: Path) -> None:
    """The command line is in modules that it cannot read."""
    old = next((found for found in find_interpreters(("cp39", "cp310")).values() if found), None)
    if old is None:
        pytest.skip("neither Python 3.9 nor 3.10 is installed here")
    command = [str(old.path), "-m", "pjrtwheel", "build", "cpu"]
    environ = os.environ | {"PYTHONPATH": str(root / "build")}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
    expected = f"error: pjrtwheel needs Python 3.11 or newer, this is {old.version}\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", expected)
