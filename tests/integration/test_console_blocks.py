# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Blocks of the documentation that say where they run are run there, and print what they show.

`tests/support/console_blocks.py` says how a block does that. The folders:

- `clone`: a clone of this repository with the wheels of the CPU and `jaxlib-select` in `dist/`. An index at
  `https://wheels.example.org/simple/` has them as well. An active virtual environment has pip and `jaxlib-select`.
  `./noxw` runs commands, without an environment of their own.
- `h100`: an empty folder on a machine with an NVIDIA H100 (mock driver), with `jaxlib-select`.
- `two_gpus`: the same, with a GTX 1080 Ti as well.
- `node`: a `clone` on a machine with an NVIDIA H100 (mock driver), with JAX for the CPU in the environment.
- `upstream`: the same, with JAX's own `jaxlib`.
- `received`: the release of `tests/data/release`, as those have it who receive it, next to a clone.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from console_blocks import Block, find_blocks, find_runs, matches, replace_in, run_block
from folders import write_program
from package_index import serve_folder
from pjrtwheel.dist_folder.folder import merge_folders
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.environment.venv import find_uv
from pjrtwheel.fetch import WheelCache, cache_root, download_wheel
from pjrtwheel.products.index import write_index
from pjrtwheel.products.index.closure import read_closure
from pjrtwheel.products.pure_python import build_project
from pjrtwheel.release.known import list_releases
from pjrtwheel.release.model import Release
from programs import free_port
from release_under_test import ROOT
from session_stand_in import put_stand_in

pytestmark = pytest.mark.integration

Setup = Callable[[Path], Mapping[str, str]]  # an empty folder → the environment in which a block runs there
PAGES = [
    *(ROOT / name for name in ("README.md", "INSTALL.md", "CONTRIBUTING.md", "selector/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
RUNS = [block for path in PAGES for block in find_runs(path)]
INDEX = "https://wheels.example.org/simple/"
ADDRESS, RELEASE = "INDEX", "RELEASE"  # of the environment: where that is, and which wheels it has
PORT = "8000"  # of servers that pages start
H100 = "9.0:NVIDIA H100"


def environment(*programs: Path, **more: str) -> dict[str, str]:
    """Return the environment of a user of this machine: its indexes and caches, and nothing that changes JAX."""
    folders = [*map(str, programs), os.environ["PATH"], str(Path(sys.executable).parent)]  # uv may be in the last
    return clean_environ(PATH=os.pathsep.join(folders), **more)


@pytest.fixture(scope="module")
def finished_wheels(built_wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with `dist`, the wheels of the CPU and that of `jaxlib-select`, and `index`, an index of it."""
    folder = tmp_path_factory.mktemp("finished")
    build_project(ROOT / "selector", ROOT, folder / "selector")
    merge_folders([built_wheels, folder / "selector"], folder / "dist")
    write_index(folder / "dist", folder / "index", closure=read_closure)
    return folder


@pytest.fixture
def clone(finished_wheels: Path, release: Release, interpreter: Interpreter) -> Iterator[Setup]:
    """Return what makes a clone with finished wheels, and an active environment."""
    with ExitStack() as stack:

        def make(folder: Path) -> Mapping[str, str]:
            for path in ROOT.iterdir():
                if path.name not in {".git", ".nox", "dist", "noxw", "selector", "site"}:
                    (folder / path.name).symlink_to(path)
            shutil.copytree(ROOT / "selector", folder / "selector")  # pip builds in it
            put_stand_in(folder)
            for name in ("dist", "index"):
                shutil.copytree(finished_wheels / name, folder / name, copy_function=os.link)
            venv, (selector,) = folder / "venv", (folder / "dist").glob("jaxlib_select-*.whl")
            subprocess.run([find_uv(), "venv", "--quiet", "--seed", "--python", interpreter.path, venv], check=True)
            subprocess.run([venv / "bin/pip", "install", "--quiet", "--no-index", "--no-deps", selector], check=True)
            address = stack.enter_context(serve_folder(folder / "index"))
            here = Path(interpreter.path).parent  # under its own name, such as python3.12
            return environment(
                venv / "bin", here, VIRTUAL_ENV=str(venv), **{ADDRESS: address, RELEASE: release.version}
            )

        yield make


def driver_of(fake_libcuda: Path, *gpus: str) -> dict[str, str]:
    """Return the variables of a mock driver that has these GPUs."""
    return {"LD_LIBRARY_PATH": str(fake_libcuda), "FAKE_CUDA_VERSION": "13000", "FAKE_CUDA_GPUS": "|".join(gpus)}


def with_selector(folder: Path, python: Path, driver: Mapping[str, str]) -> Mapping[str, str]:
    """Put `jaxlib-select` into a folder, and return the environment of a machine with a driver."""
    command = f'exec {shlex.quote(str(python))} -m jaxlib_select "$@"'
    program = write_program(folder / "bin/jaxlib-select", command)
    return environment(program.parent, PYTHONPATH=str(ROOT / "selector"), **driver)


@pytest.fixture
def h100(fake_libcuda: Path, interpreter: Interpreter) -> Setup:
    """Return what gives a machine an H100."""
    return partial(with_selector, python=interpreter.path, driver=driver_of(fake_libcuda, H100))


@pytest.fixture
def two_gpus(fake_libcuda: Path, interpreter: Interpreter) -> Setup:
    """Return what gives a machine GPUs of two generations."""
    return partial(with_selector, python=interpreter.path, driver=driver_of(fake_libcuda, H100, "6.1:GTX 1080 Ti"))


def with_jax(folder: Path, clone: Setup, libcuda: Path, jaxlib: tuple[str, ...]) -> Mapping[str, str]:
    """Make a clone, install JAX with a `jaxlib` in its environment, and return that of a machine with an H100."""
    environ = {**clone(folder), **driver_of(libcuda, H100)}
    subprocess.run(["pip", "install", "--quiet", "jax", *jaxlib], cwd=folder, env=environ, check=True)
    return environ


@pytest.fixture
def node(clone: Setup, fake_libcuda: Path) -> Setup:
    """Return what makes a clone with JAX for the CPU, on a machine that has an H100."""
    return partial(with_jax, clone=clone, libcuda=fake_libcuda, jaxlib=("--find-links", "dist", "jaxlib-cpu"))


@pytest.fixture
def upstream(clone: Setup, fake_libcuda: Path, release: Release, interpreter: Interpreter) -> Setup:
    """Return the same with JAX's own `jaxlib`."""
    pin = release.pin(f"bindings.{interpreter.tag}.linux_x86_64")
    wheel = WheelCache(cache_root(os.environ), download_wheel).fetch(pin)
    return partial(with_jax, clone=clone, libcuda=fake_libcuda, jaxlib=(str(wheel),))


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


def run_in(block: Block, folder: Path, request: pytest.FixtureRequest) -> list[tuple[str, str]]:
    """Run a block in the folder that it names; return what each command shows, and what it printed."""
    folder.mkdir()
    make: Setup = request.getfixturevalue(block.setup)
    environ = make(folder)
    block = replace_in(block, INDEX, environ.get(ADDRESS, INDEX))
    block = replace_in(block, PORT, str(free_port()))  # others may have taken it
    for known in list_releases(ROOT) if RELEASE in environ else ():  # a page may have been written for another
        block = replace_in(block, known, environ[RELEASE])
    printed = (text.replace(str(folder), "") for text in run_block(block, folder, environ))
    return list(zip((shown for _, shown in block.commands), printed, strict=True))


@pytest.mark.parametrize("block", RUNS, ids=lambda block: block.name)
def test_a_block_prints_what_it_shows(block: Block, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Every command succeeds, and where the page shows output, it is that."""
    for shown, printed in run_in(block, tmp_path / "folder", request):
        assert not shown or matches(shown, printed), printed


def test_no_folder_and_no_output_is_kept_for_nothing() -> None:
    """Each folder is used, and a block that shows output runs here or is compared by the test that it names."""
    assert {block.setup for block in RUNS} == {"clone", "h100", "node", "received", "two_gpus", "upstream"}
    printing = [block for path in PAGES for block in find_blocks(path) if any(shown for _, shown in block.commands)]
    assert [block.name for block in printing if not block.setup and not (ROOT / block.test).is_file()] == []
