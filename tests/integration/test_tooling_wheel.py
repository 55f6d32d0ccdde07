# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The wheel of `pjrtwheel`: installed without this repository, it wraps, probes, inspects and proves."""

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pjrtwheel.environment.venv import find_uv
from pjrtwheel.files import hash_file
from pjrtwheel.products.pure_python import build_tooling
from pjrtwheel.record.entries import RELEASE_FILENAME, read_entries
from programs import run_tooling

pytestmark = pytest.mark.integration

STUB = "tests/data/stub_xla/xla/xla/pjrt/c/stub_plugin.c"


@pytest.fixture(scope="module")
def program(root: Path, built_wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program in an environment that has its wheel and what that requires, and nothing of this one."""
    folder = tmp_path_factory.mktemp("tooling")
    (folder / "dist").mkdir()
    for path in built_wheels.iterdir():
        (folder / "dist" / path.name).symlink_to(path)
    wheel = build_tooling(root, folder / "dist", folder / "dist").path
    again = build_tooling(root, folder / "dist", folder / "again").path
    assert hash_file(again) == hash_file(wheel)  # the same bytes each time
    assert read_entries(folder / "dist")[wheel.name].tags == ("py3-none-any",)
    given = Path(os.environ.get("PJRTWHEEL_DIST", folder / "none"), wheel.name)  # which is to be published
    wheel = given if given.is_file() else wheel
    uv, python = str(find_uv()), str(folder / "venv/bin/python")
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, folder / "venv"], check=True)
    subprocess.run([uv, "pip", "install", "--quiet", "--python", python, wheel], check=True)
    return folder / "venv/bin/pjrtwheel"


@pytest.fixture
def call(program: Path, tmp_path: Path) -> Callable[..., str]:
    """Return a function that runs the program in an empty folder, and returns what it prints."""

    def run(*words: str | Path) -> str:
        environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run([program, *words], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_an_installed_program_wraps_probes_and_inspects(
    call: Callable[..., str], built_wheels: Path, root: Path, compile_library: Callable[..., Path], tmp_path: Path
) -> None:
    """The wheel has the bytes of the one that a clone writes."""
    library = compile_library("abacus.so", root / STUB)
    words: list[str | Path] = [library, "--name", "abacus", "--set", built_wheels, "--license", "MIT"]
    assert "pip install" in call("wrap", *words)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    (tmp_path / "clone").mkdir()
    (plugin,) = built_wheels.glob("*-abi3*.whl")
    for path in (plugin, built_wheels / RELEASE_FILENAME):
        (tmp_path / "clone" / path.name).symlink_to(path)
    run_tooling(root, "wrap", *words, "--dist", tmp_path / "clone", "--root", root)
    assert hash_file(tmp_path / "clone" / wheel.name) == hash_file(wheel)
    (inspection,) = json.loads(call("inspect", wheel, "--json"))["wheels"]
    assert (inspection["name"], inspection["findings"]) == ("jaxlib-abacus", [])
    assert call("probe", plugin).startswith(f"{plugin.name}\n  PJRT 0.")


LACKS = """
[smoke.fails.{}]
error = "No FFI handler registered|AssertionError"
reason = "it is the CPU's library without the loader for it"
"""


@pytest.mark.slow
def test_an_installed_program_proves_a_wheel_as_it_is(
    call: Callable[..., str], built_wheels: Path, install_wheels: Callable[[Path, Path], Path], tmp_path: Path
) -> None:
    """With the `jaxlib` that the wheel locks; a directory that `wrap` saved says what the library cannot do."""
    (ours,) = built_wheels.glob("jaxlib_cpu-*.whl")
    with zipfile.ZipFile(ours) as archive:
        library = archive.extract("jaxlib_cpu/pjrt_c_api_cpu_plugin.so", tmp_path)
    call("wrap", library, "--name", "abacus", "--set", built_wheels, "--save", "saved")
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    for path in built_wheels.glob("jaxlib-*.whl"):
        (tmp_path / "dist" / path.name).symlink_to(path)
    install_wheels(tmp_path / "dist", tmp_path)
    with (tmp_path / "saved/backend.toml").open("a", encoding="utf-8") as file:
        file.writelines(map(LACKS.format, ("callbacks", "linalg", "processes", "vmap")))
    said = call("smoke", wheel, "--environment", "venv", "--backend", "saved")
    assert "4 programs failed as expected, 1 check passed, level device" in said


def test_versions_are_those_that_the_repository_builds_with(root: Path) -> None:
    """Other versions of what compresses would give other bytes."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    needs = {need for needs in (project["project"]["dependencies"], *extras.values()) for need in needs}
    groups = project["dependency-groups"]
    built_with = {need for name in ("assemble", "build") for need in groups[name] if isinstance(need, str)}
    only_builds = {
        "build",
        "setuptools",
        "wheel",
        "cyclonedx-python-lib",
        "variantlib",
        "tuf",
        "securesystemslib[crypto]",
    }
    only_builds |= {"tomli-w", "markupsafe", "jinja2", "cryptography"}
    assert needs == {need for need in built_with if need.partition("==")[0] not in only_builds}
