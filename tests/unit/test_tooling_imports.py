# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the command line needs to start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pjrtwheel.cli import COMMANDS

# The dependency group `build` has none of these; the tests' environment has.
ABSENT = "import sys; sys.modules.update(pytest=None, hypothesis=None, jax=None, jaxlib=None)"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_starts_without_the_tests_packages(command: str, root: Path) -> None:
    """Every subcommand shows its help in an environment that has neither pytest nor JAX."""
    program = f"{ABSENT}; from pjrtwheel.cli import main; main([{command!r}, '--help'])"
    environ = os.environ | {"PYTHONPATH": str(root / "build")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environ)
    assert (done.returncode, done.stderr, done.stdout.split()[0]) == (0, "", "usage:")
