# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Installers see which set a wheel belongs to: real pips and the real uv, over HTTP from our static index."""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from package_index import NotingHandler, run_installer, serve_folder
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.venv import create_environment, find_uv, requirement_group
from pjrtwheel.fetch import cache_root
from pjrtwheel.products.index import write_index
from pjrtwheel.release.model import Release
from release_entries import write_small_wheel

pytestmark = pytest.mark.integration

OLD_PIP = "23.2"
USE_JAX = """
import importlib.metadata, jax, jaxlib.version
print(importlib.metadata.version("jaxlib"), jaxlib.version.__version__, float(jax.numpy.arange(3).sum()))
print(type(jax.devices()[0].client).__name__, any("jaxlib_cpu" in line for line in open("/proc/self/maps")))
"""


@dataclass(frozen=True)
class Bench:
    """An environment with upstream's JAX, and the installer under test.

    Attributes:
        python: The environment.
        install: The command that installs into it, without any index.
    """

    python: Path
    install: tuple[str, ...]

    def run(self, *command: str | Path, fails: bool = False) -> str:
        """Run an installer that knows no index but those named, or Python, and return all it printed."""
        return run_installer(*command, folder=self.python.parent, fails=fails)


@pytest.fixture(params=["pip", "old pip", "uv"])
def bench(
    request: pytest.FixtureRequest, root: Path, release: Release, interpreter: Interpreter, tmp_path: Path
) -> Bench:
    """Return an environment with upstream's jax and jaxlib, for each installer."""
    stock = [f"jax=={release.version}", f"jaxlib=={release.version}", f"pip=={OLD_PIP}"]
    wanted = [*stock, *requirement_group(root, "smoke")]
    python = create_environment(interpreter, wanted, [], target=tmp_path / "venv", cache=cache_root(os.environ))
    command = {
        "pip": (sys.executable, "-m", "pip", "--python", str(python), "install", "--no-input"),
        "old pip": (str(python), "-m", "pip", "install", "--no-input"),
        "uv": (str(find_uv()), "pip", "install", "--python", str(python)),
    }
    return Bench(python, command[request.param])


@pytest.fixture
def address(built_wheels: Path, tmp_path: Path) -> Iterator[str]:
    """Return the address of a static index of our real wheels."""
    write_index(built_wheels, tmp_path / "simple")
    NotingHandler.asked.clear()
    with serve_folder(tmp_path / "simple", NotingHandler) as address:
        yield address


def test_a_plugin_replaces_upstreams_jaxlib(bench: Bench, address: str, release: Release) -> None:
    """One command in an environment with upstream's JAX, which then runs on the plugin; all versions are in order."""
    before = bench.run(bench.python, "-I", "-c", "import importlib.metadata as m; print(m.version('jaxlib'))")
    assert before.split() == [release.version]
    bench.run(*bench.install, "--index-url", address, "jax", "jaxlib-cpu")
    said = bench.run(bench.python, "-I", "-c", USE_JAX).splitlines()
    assert said == [f"{release.set_version} {release.version} 3.0", "Client True"]
    assert "%2B" in "".join(NotingHandler.asked)


def test_the_installed_pair_has_no_broken_requirements(bench: Bench, address: str, release: Release) -> None:
    """JAX's own requirement of jaxlib holds for ours, and what is there already is seen to be there."""
    bench.run(*bench.install, "--index-url", address, "jaxlib-cpu")
    bench.run(bench.python, "-m", "pip", "check")
    asked = len(NotingHandler.asked)
    bench.run(*bench.install, "--index-url", address, f"jaxlib[cpu]=={release.version}")
    assert not [path for path in NotingHandler.asked[asked:] if path.endswith(".whl")]


@pytest.fixture
def two_sets(tmp_path: Path) -> Iterator[str]:
    """Return the address of an index with small wheels of two releases."""
    folder = tmp_path / "two"
    folder.mkdir()
    entries = []
    for version in ("1.1+split.1", "1.2+split.1"):
        extra = f'jaxlib-abacus=={version}; extra == "abacus"'
        entries.append(write_small_wheel(folder / f"jaxlib-{version}-py3-none-any.whl", [extra]))
        entries.append(write_small_wheel(folder / f"jaxlib_abacus-{version}-py3-none-any.whl", [f"jaxlib=={version}"]))
    (folder / "release.json").write_text(json.dumps({"schema": 2, "wheels": entries}))
    write_index(folder, folder / "simple")
    with serve_folder(folder / "simple", NotingHandler) as address:
        yield address


def test_a_wrong_pair_is_refused_before_anything_is_downloaded(bench: Bench, two_sets: str) -> None:
    """The metadata says enough: a plugin and a jaxlib of two releases have no solution."""
    for wanted in (
        ("jaxlib==1.2+split.1", "jaxlib-abacus==1.1+split.1"),
        ("jaxlib[abacus]==1.2", "jaxlib-abacus==1.1+split.1"),
        ("jaxlib==1.2", "jaxlib-abacus<1.2"),
    ):
        NotingHandler.asked.clear()
        said = bench.run(*bench.install, "--index-url", two_sets, *wanted, fails=True)
        assert "jaxlib" in said, wanted
        assert [path for path in NotingHandler.asked if path.endswith(".metadata")], wanted
        assert not [path for path in NotingHandler.asked if path.endswith(".whl")], wanted
