# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Real wheels, installed by the real pip and uv from an index on loopback and from a folder, with JAX started."""

import json
import zipfile
from pathlib import Path

import pytest

from console_blocks import alike, shown
from package_index import serve_folder
from pjrtwheel.abis import python_version
from pjrtwheel.cli import main
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.products.index import write_index
from pjrtwheel.products.index.closure import read_closure
from pjrtwheel.release.model import Release
from small_wheels import build_wheel

pytestmark = [pytest.mark.integration, pytest.mark.slow]


@pytest.fixture
def options(root: Path, interpreter: Interpreter) -> list[str]:
    """Return the command for one Python and the CPU."""
    python = ".".join(map(str, python_version(interpreter.tag)))
    return ["verify_installs", "--root", str(root), "--backend", "cpu", "--python", python]


def test_pip_and_uv_install_from_an_index(
    root: Path,
    options: list[str],
    built_wheels: Path,
    release: Release,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One line each, the versions of the set, and the results as JSON."""
    write_index(built_wheels, tmp_path / "simple", closure=read_closure)
    with serve_folder(tmp_path / "simple") as address:
        assert main([*options, "--index", address, "--json", str(tmp_path / "results.json")]) == 0
        last = f"{release.set_version} from {address}: 2 passed, 0 failed, 0 skipped"
    said = capsys.readouterr().out.strip()
    assert said.splitlines()[-1] == last
    page = shown(root / "docs/release/publish.md", "./noxw verify_installs --index /srv/wheels")
    assert alike(page.replace("/srv/wheels", address), said), said
    results = json.loads((tmp_path / "results.json").read_text())
    assert [(result["combination"]["installer"], result["outcome"]) for result in results] == [
        ("pip", "passed"),
        ("uv", "passed"),
    ]
    assert {result["detail"] for result in results} == {"1 x cpu; default cpu"}
    installed = {name.split("-")[0] for result in results for name in result["wheels"]}
    assert {"jaxlib", "jaxlib_cpu"} <= installed


def test_a_wheel_that_does_not_start_fails(
    options: list[str], built_wheels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A library that is cut off: the line has the loader's reason, and the status is not 0."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for wheel in built_wheels.glob("jaxlib*.whl"):
        if wheel.name.startswith("jaxlib_cpu-"):
            damage(wheel, folder / wheel.name)
        else:
            (folder / wheel.name).symlink_to(wheel)
    assert main([*options, "--index", str(folder), "--installer", "uv"]) == 9
    said = capsys.readouterr().out
    assert said.startswith("failed ")
    assert "0 passed, 1 failed, 0 skipped" in said


def damage(wheel: Path, target: Path) -> None:
    """Write a wheel whose library is half of what it was, with a RECORD that has the new hash."""
    with zipfile.ZipFile(wheel) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}
    library = max(members, key=lambda name: len(members[name]))
    members[library] = members[library][: len(members[library]) // 2]
    build_wheel(target.parent, members, name=target.name)
