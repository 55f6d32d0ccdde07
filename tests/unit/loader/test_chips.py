# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Chips that need not be here: which ones a wheel knows, how several are written, and what is refused before JAX."""

import subprocess
import sys
from pathlib import Path

import pytest

from folders import write_files
from loaders import load_module, put_loader
from pjrtwheel.backend import Backend
from pjrtwheel.prove.inputs import load_targets
from release_under_test import BACKENDS, ROOT

RUN = "import runpy, sys; sys.path.insert(0, ''); runpy.run_module(sys.argv.pop(1), run_name='__main__')"


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)
def test_a_wheel_knows_the_chips_that_its_build_compiles_for(backend: Backend) -> None:
    """With what differs from those that it shares, as the tooling reads it."""
    plugin = load_module(backend.name, "backend").PLUGIN
    chips = load_module(backend.name, "pjrt.chips").read_chips(plugin.package)
    targets = load_targets(ROOT, backend)
    assert {name: (chip["summary"], set(chip.get("fails", {}))) for name, chip in chips.items()} == {
        target.name: (target.summary, set(target.fails)) for target in targets
    }
    assert plugin.compilers == backend.aot_requires


@pytest.mark.parametrize(
    ("backend", "name", "topology", "options"),
    [
        ("cuda13", "h100", "", {"topology": "1x1x1"}),
        ("cuda13", "h100:slice", "", {"topology": "1x1x8"}),
        ("cuda13", "h100:8", "", {"topology": "1x1x8"}),
        ("cuda13", "h100:2x8", "", {"topology": "1x2x8"}),
        ("cuda13", "h100:4x2x8", "", {"topology": "4x2x8"}),
        ("tpu", "v5e", "v5e:1x1", {"chips_per_host_bounds": [1, 1, 1]}),
        ("tpu", "v5e:2x4", "v5e:2x4", {}),
    ],
)
def test_several_chips_have_an_arrangement(backend: str, name: str, topology: str, options: dict[str, object]) -> None:
    """By JAX's name where it knows the chip, else by XLA's three numbers, of which the first may be left out."""
    chips, plugin = load_module(backend, "pjrt.chips"), load_module(backend, "backend").PLUGIN
    known, arrangement = chips.find_chip(plugin, name)["topologies"], name.partition(":")[2] or "single"
    assert chips._arrange(known, arrangement) == (topology, options)


@pytest.mark.parametrize("arrangement", ["0", "8x", "2x2x2x2", "-1", "all"])
def test_what_is_no_arrangement(arrangement: str) -> None:
    """It never reaches XLA."""
    chips, plugin = load_module("cuda13", "pjrt.chips"), load_module("cuda13", "backend").PLUGIN
    with pytest.raises(ValueError, match=f"'{arrangement}'"):
        chips._arrange(chips.find_chip(plugin, "h100")["topologies"], arrangement)


@pytest.mark.parametrize(
    ("backend", "name", "known", "remedy"),
    [("cuda13", "H10", "gh200", "take h100"), ("cuda13", "hopper", "thor", ""), ("cpu", "h100", "devices that", "")],
)
def test_an_unknown_chip(backend: str, name: str, known: str, remedy: str) -> None:
    """Those there are are listed, and the nearest is proposed."""
    plugin, error = load_module(backend, "backend").PLUGIN, load_module(backend, "pjrt.errors").ChipError
    with pytest.raises(error) as caught:
        load_module(backend, "pjrt.chips").find_chip(plugin, name)
    assert (repr(name) in caught.value.what, known in caught.value.cause, caught.value.remedy) == (True, True, remedy)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a wheel's package, and a user's modules."""
    folder = tmp_path_factory.mktemp("site")
    put_loader("cuda13", folder)
    modules = {"model.py": "def step(x, y): return x\n", "broken.py": "def fail(): import no_such\nfail()\n"}
    write_files(folder, modules)
    return folder


@pytest.mark.parametrize(
    ("arguments", "status", "named"),
    [
        (["model:step", "--for", "h10"], 2, "'h10'"),
        (["model:step", "--for", "v100"], 1, "CUDA 13 has no assembler for compute capability 7.0"),
        (["model:step", "--for", "h100", "-o", "nowhere/a.pickle"], 2, "nowhere"),
        (["mode:step", "--for", "h100"], 2, "No module named 'mode'"),
        (["model:stop", "--for", "h100"], 2, "'stop'"),
        (["model", "--for", "h100"], 2, "--help"),
        (["model:step"], 2, "--for"),
    ],
)
def test_what_cannot_be_compiled_is_said_in_lines(site: Path, arguments: list[str], status: int, named: str) -> None:
    """What does not exist has the status of usage; JAX is not asked, which is not installed here."""
    result = compile_in(site, *arguments)
    assert (result.returncode, result.stdout, named in result.stderr) == (status, "", True), result.stderr
    assert "Traceback" not in result.stderr
    assert sorted(path.name for path in site.glob("*.pickle")) == []


def test_errors_of_the_users_module_are_shown_as_python_shows_them(site: Path) -> None:
    """From the first line of the user's on."""
    result = compile_in(site, "broken:step", "--for", "h100")
    _, first, *_, last = result.stderr.splitlines()
    assert (result.returncode, "broken.py" in first, "no_such" in last) == (1, True, True), result.stderr
    assert "jaxlib_cuda_13" not in result.stderr


def compile_in(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder, without the rest of this environment."""
    command = [sys.executable, "-S", "-s", "-E", "-c", RUN, "jaxlib_cuda_13", "compile", *arguments]
    return subprocess.run(command, cwd=site, capture_output=True, text=True, check=False)
