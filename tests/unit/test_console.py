# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What commands print for people is folded on a terminal, and whole for programs."""

import shutil
import sys
from os import terminal_size

import pytest

from pjrtwheel.console import fold_text, print_text

LINE = "  h100  5.2 s  sm_90a: 11 programs compiled, pallas failed as expected"


def test_lines_are_folded_between_words() -> None:
    """A word that is longer than the terminal stays whole, as do short lines and commands."""
    assert fold_text(LINE, 40).split("\n") == [
        "  h100  5.2 s  sm_90a: 11 programs",
        "      compiled, pallas failed as",
        "      expected",
    ]
    assert fold_text(f"a\n{'b' * 50}\nrun: ./noxw -s build_cuda13 -- --dist dist", 20).split("\n") == [
        "a",
        "b" * 50,
        "run: ./noxw -s build_cuda13 -- --dist dist",
    ]
    command = "fix: pip install --extra-index-url https://wheels.example.org/simple/ jax jaxlib-cpu"
    assert fold_text(command, 40) == command


def test_programs_get_whole_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever the width is said to be."""
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: terminal_size((40, 24)))
    print_text(LINE)
    assert capsys.readouterr().out == f"{LINE}\n"
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_text(LINE)
    assert capsys.readouterr().out == f"{fold_text(LINE, 40)}\n"
