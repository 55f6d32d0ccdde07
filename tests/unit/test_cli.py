# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The frame around the subcommands: choice, errors and exit codes."""

from __future__ import annotations

import argparse
import errno
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from pjrtwheel import cli
from pjrtwheel.errors import FetchError

Raise = Callable[[BaseException], None]


@pytest.fixture
def command_raises(monkeypatch: pytest.MonkeyPatch) -> Raise:
    """Return a function that installs a subcommand named 'broken' that raises an exception."""

    def install(error: BaseException) -> None:
        def execute(_args: argparse.Namespace) -> int:
            raise error

        module = SimpleNamespace(configure_parser=lambda _parser: None, execute=execute)
        monkeypatch.setitem(sys.modules, "pjrtwheel.cli.broken", module)
        monkeypatch.setitem(cli.COMMANDS, "broken", "raises")

    return install


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_every_command_of_the_table_exists(name: str) -> None:
    """Each entry of the table has a module that declares options."""
    module = importlib.import_module(f"pjrtwheel.cli.{name}")
    parser = argparse.ArgumentParser(prog=name)
    module.configure_parser(parser)
    assert callable(module.execute)
    assert parser.format_usage().startswith(f"usage: {name}")


def test_every_module_stands_in_the_table(root: Path) -> None:
    """No subcommand is written and then forgotten."""
    modules = {path.stem for path in (root / "build" / "pjrtwheel" / "cli").glob("*.py")} - {"__init__"}
    assert modules == set(cli.COMMANDS)


def test_user_error_is_a_short_message_and_a_status(command_raises: Raise, capsys: pytest.CaptureFixture[str]) -> None:
    """What a user can mend is told in three lines, without a traceback."""
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


def test_full_disk_names_the_file(command_raises: Raise, capsys: pytest.CaptureFixture[str]) -> None:
    """A full disk is the user's to mend, wherever it is noticed."""
    command_raises(OSError(errno.ENOSPC, "No space left on device", "/disk/a.whl"))
    assert cli.main(["broken"]) == 1
    assert capsys.readouterr().err.startswith("error: no space left on the disk while writing /disk/a.whl\n")


def test_other_operating_system_errors_are_bugs(command_raises: Raise) -> None:
    """An error nobody foresaw keeps its traceback."""
    command_raises(OSError(errno.EIO, "Input/output error"))
    with pytest.raises(OSError, match="Input/output error"):
        cli.main(["broken"])


def test_interrupt_ends_with_the_shells_status(command_raises: Raise, capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C is reported as shells do."""
    command_raises(KeyboardInterrupt())
    assert (cli.main(["broken"]), capsys.readouterr().err) == (130, "error: interrupted\n")


def test_unknown_command_lists_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    """A slip of the pen is answered with the choices, and nothing is imported."""
    with pytest.raises(SystemExit) as caught:
        cli.main(["biuld"])
    assert caught.value.code == 2
    assert "'build'" in capsys.readouterr().err
