# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The frame around the subcommands: choice, errors and exit codes."""

import argparse
import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from pjrtwheel import cli
from pjrtwheel.cli.commands import COMMANDS, SHARED
from pjrtwheel.errors import FetchError, UsageError
from pjrtwheel.program import CLOSED, REMEDIES

Raise = Callable[[BaseException], None]


@pytest.fixture
def command_raises(monkeypatch: pytest.MonkeyPatch) -> Raise:
    """Return a function that installs a subcommand named 'broken' that raises an exception."""

    def install(error: BaseException) -> None:
        def execute(_args: argparse.Namespace) -> int:
            raise error

        module = SimpleNamespace(configure_parser=lambda _parser: None, execute=execute)
        monkeypatch.setitem(sys.modules, "pjrtwheel.cli.broken", module)
        monkeypatch.setitem(COMMANDS, "broken", "raises")

    return install


def test_every_module_stands_in_the_table(root: Path) -> None:
    """No subcommand is written and then forgotten."""
    modules = {path.stem for path in (root / "build" / "pjrtwheel" / "cli").glob("*.py")}
    shared = {name for names in SHARED.values() for name in names}
    assert modules - {"__init__", "commands"} == SHARED.keys() | COMMANDS.keys() - shared
    assert shared <= COMMANDS.keys()


def test_user_error_is_a_short_message_and_a_status(command_raises: Raise, capsys: pytest.CaptureFixture[str]) -> None:
    """What a user can fix is reported in three lines, without a traceback."""
    command_raises(FetchError("what", cause="cause", remedy="remedy"))
    assert cli.main(["broken"]) == FetchError.exit_code
    assert capsys.readouterr().err == "error: what\n       cause\n       remedy\n"


@pytest.mark.parametrize("arguments", [["--debug", "broken"], ["broken", "--debug"]], ids=["before", "after"])
def test_debug_shows_the_traceback(
    command_raises: Raise, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    """The option works on either side of the subcommand."""
    command_raises(FetchError("what"))
    cli.main(arguments)
    assert "Traceback (most recent call last)" in capsys.readouterr().err


@pytest.mark.parametrize("number", sorted({*REMEDIES, errno.EEXIST, errno.EISDIR, errno.ENOTDIR}))
def test_usual_errors_of_the_system_are_two_lines(
    command_raises: Raise, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    """A full disk or a missing right is the user's to fix, wherever it is noticed."""
    command_raises(OSError(number, "What it is", "/disk/a.whl"))
    assert cli.main(["broken"]) == 1
    assert capsys.readouterr().err == f"error: what it is: /disk/a.whl\n       {REMEDIES[number]}\n"


def test_other_operating_system_errors_are_bugs(command_raises: Raise) -> None:
    """An error nobody foresaw keeps its traceback."""
    command_raises(OSError(errno.EIO, "Input/output error"))
    with pytest.raises(OSError, match="Input/output error"):
        cli.main(["broken"])


def test_a_reader_that_has_seen_enough_gets_no_traceback(root: Path) -> None:
    """As `head`, which closes its end after some lines."""
    reading, writing = os.pipe()
    os.close(reading)
    environ = os.environ | {"PYTHONPATH": f"{root}/build:{root}/selector"}
    command = [sys.executable, "-m", "pjrtwheel", "matrix", "--root", str(root)]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False, env=environ)
    os.close(writing)
    assert (done.returncode, done.stderr) == (CLOSED, b"")


def test_interrupt_ends_with_the_shells_status(command_raises: Raise, capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C is reported as shells do."""
    command_raises(KeyboardInterrupt())
    assert (cli.main(["broken"]), capsys.readouterr().err) == (130, "error: interrupted\n")


EMPTY = [
    *(["--tag", command] for command in ("release_check", "attest", "verify_release .", "reproduce .")),
    *(["--dist", command] for command in ("attest", "merge", "release_check", "auto", "build cpu")),
    *(["--release", command] for command in ("verify_installs", "build cpu", "smoke --backend cpu", "facts")),
    *([option, "attest --tag v1"] for option in ("--output", "--key", "--commit")),
    *([option, "reproduce ."] for option in ("--wheel", "--root")),
    *([option, "verify_installs"] for option in ("--index", "--backend", "--python", "--json")),
    *(["release", command] for command in ("verify_release", "reproduce")),
    *(["--set", command] for command in ("build cpu", "smoke --backend cpu", "wrap foo.so --name foo")),
    ["--label", "build cpu"],
    ["--to", "release_check"],
    ["--key", "verify_release ."],
    ["--proofs", "merge"],
    ["folders", "merge"],
    ["wheels", "verify"],
    ["tag", "tag"],
]


@pytest.mark.parametrize(("option", "command"), EMPTY)
def test_an_empty_value_is_not_any_value(option: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A variable of a script that is not set names neither this folder nor the newest release, and no check passes."""
    words = [option, ""] if option.startswith("-") else [""]
    assert cli.main([*command.split(), *words]) == UsageError.exit_code
    assert "not an empty text" in capsys.readouterr().err.splitlines()[0]


@pytest.mark.parametrize(("arguments", "nearest"), [(["biuld"], "build"), (["xyz"], "")])
def test_a_slip_is_answered_with_what_may_have_been_meant(
    arguments: list[str], nearest: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In three lines at most, and not with the whole usage; options are written in full."""
    assert cli.main(arguments) == UsageError.exit_code
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) <= 3
    assert [line.split()[-1] for line in lines if line.endswith("?")] == ([f"{nearest}?"] if nearest else [])


@pytest.mark.parametrize(
    "command", [["verify", "a.whl"], ["smoke", "--backend", "cpu"], ["conformance", "--backend", "cpu", "tests"]]
)
def test_another_folder_is_not_the_repository(command: list[str], tmp_path: Path) -> None:
    """Whether it is given to the command or before it."""
    assert cli.main([*command, "--root", str(tmp_path)]) == UsageError.exit_code
    assert cli.main(["--root", str(tmp_path), *command]) == UsageError.exit_code
