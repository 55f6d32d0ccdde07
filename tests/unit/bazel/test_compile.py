# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The compiler inside an action."""

from collections.abc import Callable
from pathlib import Path

import pytest

from folders import write_program
from pjrtwheel.bazel.compile import main


@pytest.fixture
def make_compiler(tmp_path: Path) -> Callable[..., list[str]]:
    """Return a factory of programs that log their arguments and cache, and of the command that begins with one."""

    def make(rest: str = "") -> list[str]:
        path = write_program(tmp_path / "cc", f'echo "$HOME|$PATH|$*" >> {tmp_path}/log\n{rest}')
        return [str(path), "a.c", "-ldl"]

    return make


def test_every_output_is_compiled_with_its_options_and_one_cache(
    make_compiler: Callable[..., list[str]], tmp_path: Path
) -> None:
    """The cache was empty and is gone; nothing of the environment reaches the compiler."""
    assert main([*make_compiler(), "--", "a.so", "-DA", "--", "b.so"]) == 0
    caches, paths, commands = zip(
        *(line.split("|") for line in (tmp_path / "log").read_text().splitlines()), strict=True
    )
    assert commands == ("a.c -ldl -DA -o a.so", "a.c -ldl -o b.so")
    assert len(set(caches)) == 1
    assert not Path(caches[0]).exists()
    assert set(paths) == {""}


def test_first_failure_ends_the_action(make_compiler: Callable[..., list[str]], tmp_path: Path) -> None:
    """Its status is the action's, and no further output is compiled."""
    assert main([*make_compiler("exit 3"), "--", "a.so", "--", "b.so"]) == 3
    assert (tmp_path / "log").read_text().endswith("|a.c -ldl -o a.so\n")
    assert len((tmp_path / "log").read_text().splitlines()) == 1
