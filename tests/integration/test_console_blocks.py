# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Blocks of the documentation that say where they run are run there, and print what they show.

`tests/support/console_blocks.py` says how a block does that. The folders:

- `clone`: a clone of this repository with the wheels of the CPU and `jaxlib-select` in `dist/`, and an active virtual
  environment with nothing in it but pip. `./noxw` runs the commands of sessions, without an environment of their own.
- `h100`: an empty folder on a machine with an NVIDIA H100 (mock driver), with `jaxlib-select`.
- `received`: the release of `tests/data/release`, as those have it who receive it, next to a clone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from console_blocks import Block, find_blocks, matches, run_block
from pjrtwheel.dist_folder.merge import merge_folders
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.products.select import build_selector
from release_under_test import ROOT
from session_stand_in import put_stand_in

pytestmark = pytest.mark.integration

Setup = Callable[[Path], Mapping[str, str]]  # an empty folder → the environment in which a block runs there
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "selector/README.md")),
    *(ROOT / "docs").rglob("*.md"),
]
BLOCKS = [block for path in sorted(PAGES) for block in find_blocks(path) if block.setup]
KEPT = ("HOME", "LANG", "PATH", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONFIG_FILE", "UV_INDEX_URL", "TMPDIR")


def environment(**more: str) -> dict[str, str]:
    """Return an environment of which this one says only where programs and packages are."""
    cache = {"PJRTWHEEL_CACHE": os.environ["PJRTWHEEL_CACHE"]} if "PJRTWHEEL_CACHE" in os.environ else {}
    return {name: value for name, value in os.environ.items() if name in KEPT} | cache | more


@pytest.fixture
def clone(built_wheels: Path, interpreter: Interpreter) -> Setup:
    """Return what makes a clone with finished wheels, and an active environment."""

    def make(folder: Path) -> Mapping[str, str]:
        for path in ROOT.iterdir():
            if path.name not in {".git", ".nox", "dist", "noxw", "site"}:
                (folder / path.name).symlink_to(path)
        put_stand_in(folder)
        build_selector(ROOT, folder / "selector_dist")
        merge_folders([built_wheels, folder / "selector_dist"], folder / "dist")
        shutil.rmtree(folder / "selector_dist")
        venv = folder / "env"
        subprocess.run([interpreter.path, "-m", "venv", str(venv)], check=True)
        return environment(PATH=f"{venv}/bin:{os.environ['PATH']}", VIRTUAL_ENV=str(venv))

    return make


@pytest.fixture
def h100(fake_libcuda: Path) -> Setup:
    """Return what gives a machine an H100."""

    def make(folder: Path) -> Mapping[str, str]:
        programs = folder / "bin"
        programs.mkdir()
        program = programs / "jaxlib-select"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m jaxlib_select "$@"\n')
        program.chmod(0o755)
        return environment(
            PATH=f"{programs}:{os.environ['PATH']}",
            PYTHONPATH=str(ROOT / "selector"),
            LD_LIBRARY_PATH=str(fake_libcuda),
            FAKE_CUDA_VERSION="13000",
            FAKE_CUDA_GPUS="9.0:NVIDIA H100",
        )

    return make


@pytest.fixture
def received() -> Setup:
    """Return what puts the recorded release into a folder."""

    def make(folder: Path) -> Mapping[str, str]:
        shutil.copytree(ROOT / "tests/data/release", folder, dirs_exist_ok=True)
        for name in ("plugins", "releases"):
            (folder / name).symlink_to(ROOT / name)
        put_stand_in(folder)
        return environment()

    return make


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_a_block_prints_what_it_shows(block: Block, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Every command succeeds, and where the page shows output, it is that."""
    setup: Setup = request.getfixturevalue(block.setup)
    printed = run_block(block, tmp_path, setup(tmp_path))
    assert len(printed) == len(block.commands)
    for (command, shown), text in zip(block.commands, printed, strict=True):
        assert not shown or matches(shown, text), f"$ {command}\n{text}"


TEXT = """\
# A page

<!-- run in {setup} -->
```console
$ {command}
{shown}
```
"""


@pytest.mark.parametrize(
    ("setup", "command", "shown"),
    [
        ("clone", "./noxw -s table", "...jaxlib_cpu..."),
        ("h100", "jaxlib-select detect", "...\nnvidia  NVIDIA H100 (compute capability 9.0); CUDA 13.0\n..."),
        ("received", "./noxw -s verify_release -- v1.2.3+split.1 --documents-only", "v1.2.3+split.1: ..."),
    ],
)
def test_each_folder_is_what_it_says(
    tmp_path: Path, request: pytest.FixtureRequest, setup: str, command: str, shown: str
) -> None:
    """Whether or not a page uses it today."""
    (tmp_path / "page.md").write_text(TEXT.format(setup=setup, command=command, shown=shown))
    (tmp_path / "folder").mkdir()
    (block,) = find_blocks(tmp_path / "page.md")
    make: Setup = request.getfixturevalue(block.setup)
    (printed,) = run_block(block, tmp_path / "folder", make(tmp_path / "folder"))
    assert block.setup == setup
    assert matches(shown, printed), printed
    assert not matches(f"{shown} and more", printed)


def test_a_command_that_fails_is_noticed(tmp_path: Path) -> None:
    """Unless the page says so; what comes before is not hidden by what comes after."""
    block = Block(tmp_path / "page.md", 1, (("false", ""), ("true", "")))
    with pytest.raises(AssertionError):
        run_block(block, tmp_path, environment())
    failing = Block(tmp_path / "page.md", 1, (("echo a; echo b >&2", ""), ("echo c; exit 3", "")), status=3)
    assert run_block(failing, tmp_path, environment()) == ["a\nb", "c"]
