# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Every program that can be run fails in the same form."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from pjrtwheel.errors import UsageError
from pjrtwheel.program import CommandParser

# Module, arguments with {} for an empty folder, status, first line of the message.
FAILURES = [
    ("bazel.repositories", "--root {} --release 9.9.9", 2, "unknown release: '9.9.9'"),
    ("fetch.__main__", "--release-file {}/x --pin a.b --output {}", 3, "cannot read the pins file {}/x"),
    ("fetch.wheelhouse", "--requirements {}/x --output {}", 1, "no such file or directory: {}/x"),
    ("docs.__main__", "--root {}", 2, "not the repository: {}"),
]


@pytest.mark.parametrize(("module", "arguments", "status", "message"), FAILURES)
def test_a_program_fails_with_a_message_and_a_status(
    module: str, arguments: str, status: int, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No traceback, and each further line is indented below the first."""
    main = importlib.import_module(f"pjrtwheel.{module}").main
    assert main([argument.replace("{}", str(tmp_path)) for argument in arguments.split()]) == status
    first, *others = capsys.readouterr().err.splitlines()
    assert first.startswith("error: " + message.replace("{}", str(tmp_path)))
    assert all(line.startswith("       ") for line in others)


@pytest.mark.parametrize("module", ["fetch", "fetch.wheelhouse", "bazel.repositories"])
def test_what_bazel_runs_first_needs_the_standard_library_alone(module: str, root: Path) -> None:
    """The tools of the graph are installed by these, so nothing is there for them to import."""
    command = [sys.executable, "-S", "-m", f"pjrtwheel.{module}", "--help"]
    done = subprocess.run(command, env={"PYTHONPATH": str(root / "build")}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_options_are_not_abbreviated() -> None:
    """Another option that begins alike would change what a script does; the same holds for a command's commands."""
    parser = CommandParser(prog="count")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("beads").add_argument("--colour")
    assert parser.parse_all(["beads", "--colour", "red"]).colour == "red"
    with pytest.raises(UsageError, match="unknown option: --colou\n"):
        parser.parse_all(["beads", "--colou", "red"])
