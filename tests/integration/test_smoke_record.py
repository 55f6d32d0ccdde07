# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`smoke --backend` records what the wheels of a folder showed, and nothing else; every machine has a CPU."""

import json
import os
import platform as host
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pjrtwheel import cli
from pjrtwheel.backend import find_backend
from pjrtwheel.dist_folder.folder import read_folder
from pjrtwheel.environment.interpreters import find_interpreters
from pjrtwheel.environment.processes import ask_process, clean_environ, run_all
from pjrtwheel.environment.venv import create_environment
from pjrtwheel.errors import ProofError, UsageError
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import hash_file
from pjrtwheel.platforms import host_platform
from pjrtwheel.prove.inputs import load_inputs
from pjrtwheel.prove.inside import smoke
from pjrtwheel.prove.proof_file import read_proof_file
from pjrtwheel.record.entries import RELEASE_FILENAME
from pjrtwheel.record.proofs import Level
from pjrtwheel.release.model import Release
from pjrtwheel.sets.finished import find_set
from release_entries import NO_PROOF, link_wheels
from release_under_test import release_under_test

pytestmark = pytest.mark.integration

SMOKE = ("smoke", "--backend", "cpu", "--release", release_under_test().version)

FAILS = '"""Fail."""\n\n\ndef check() -> str:\n    raise AssertionError("two is not three")\n'


@pytest.fixture
def checkout(copy_checkout: Callable[[Path], Path], tmp_path: Path) -> Path:
    """Return a copy of the repository with one smoke program."""
    folder = copy_checkout(tmp_path / "checkout")
    for program in (folder / "tests" / "smoke").glob("*.py"):
        if program.stem != "jit":
            program.unlink()
    return folder


@pytest.fixture
def dist(built_wheels: Path, tmp_path: Path) -> Path:
    """Return a folder with the wheels of the CPU, of which nothing is proven yet."""
    entries = {
        name: replace(entry, proof=NO_PROOF, other_proofs=()) for name, entry in read_folder(built_wheels).items()
    }
    return link_wheels(built_wheels, entries, tmp_path / "dist")


def test_what_ran_on_the_device_enters_the_record(checkout: Path, dist: Path) -> None:
    """Of the plugin, and of the bindings for each Python on which it ran."""
    assert cli.main([*SMOKE, "--root", str(checkout), "--dist", str(dist)]) == 0
    proofs = {name: entry.proof for name, entry in read_folder(dist).items()}
    ran = {name: [p.interpreter for p in proof.pythons if p.results] for name, proof in proofs.items()}
    assert {name: proof.level for name, proof in proofs.items()} == {
        name: "device" if interpreters else "static" for name, interpreters in ran.items()
    }
    (plugin,) = (name for name in proofs if name.startswith("jaxlib_cpu-"))
    assert ran[plugin]
    assert (proofs[plugin].backend, bool(proofs[plugin].pjrt_api)) == ("cpu", True)


def test_an_environment_that_was_filled_from_outside_is_proven(
    checkout: Path, dist: Path, release: Release, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has all that is needed; the proof goes to a file, which another machine merges unless it is of other bytes."""
    before = (dist / RELEASE_FILENAME).read_bytes()
    platform = host_platform()
    found = find_interpreters(release.pythons(platform.name))
    tag, python = next((tag, python) for tag, python in found.items() if python)
    backend = find_backend(checkout, "cpu")
    wheels = find_set(checkout, dist, backend, platform, tmp_path, where=release.set_version).fetch_pair(tag)
    requirements = load_inputs(checkout, release, backend).requirements
    create_environment(python, requirements, wheels, target=tmp_path / "venv", cache=cache_root(os.environ))
    options = ["--environment", str(tmp_path / "venv"), "--proofs", str(tmp_path / "proofs.json")]
    options += ["--signed-off-by", "A Tester"]
    command = [*SMOKE, "--root", str(checkout), "--dist", str(dist), *options]
    assert cli.main(command) == 0
    document = read_proof_file(tmp_path / "proofs.json")
    shown = {proven.wheel: (proven.sha256, proven.proof.level, proven.proof.emulated) for proven in document.wheels}
    assert shown == {wheel.name: (hash_file(wheel), Level.DEVICE, False) for wheel in wheels}
    assert document.signed_off_by == "A Tester"
    machine = document.wheels[0].proof.machine
    assert machine is not None
    assert (machine.system, machine.chip, machine.chips, machine.driver) == (host.platform(), "cpu", 1, "")
    assert (dist / RELEASE_FILENAME).read_bytes() == before
    merge = ["merge", "--dist", str(dist), "--proofs", str(tmp_path / "proofs.json")]
    assert cli.main(merge) == 0
    after = read_folder(dist)
    assert {name: after[name].proof for name in shown} == {
        found.wheel: replace(found.proof, origin=replace(found.proof.origin, signed_off_by="A Tester"))
        for found in document.wheels
    }
    (plugin,) = dist.glob("jaxlib_cpu-*.whl")
    altered = (tmp_path / "proofs.json").read_text("utf-8").replace(hash_file(plugin), "0" * 64)
    (tmp_path / "proofs.json").write_text(altered, "utf-8")
    assert cli.main(merge) == ProofError.exit_code
    assert plugin.name in capsys.readouterr().err
    assert read_folder(dist) == after
    assert cli.main([*command[:-6], "--environment", str(tmp_path)]) == UsageError.exit_code


def test_a_failed_proof_changes_nothing(
    checkout: Path, dist: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not even what the programs before it showed is recorded, here or in a file for another machine."""
    before = (dist / RELEASE_FILENAME).read_bytes()
    (checkout / "tests" / "smoke" / "numbers.py").write_text(FAILS)
    command = [*SMOKE, "--root", str(checkout), "--dist", str(dist)]
    assert cli.main(command) == ProofError.exit_code
    proofs = tmp_path / "proofs.json"
    assert cli.main([*command, "--proofs", str(proofs), "--signed-off-by", "A Tester"]) == ProofError.exit_code
    assert f"not written: {proofs}" in capsys.readouterr().err
    assert not proofs.exists()
    assert (dist / RELEASE_FILENAME).read_bytes() == before


@pytest.mark.parametrize("client", ["built-in", "plugin"])
def test_the_programs_hold_with_several_devices(root: Path, wheel_python: Path, client: str) -> None:
    """Machines of vendors have four or eight, and a program must not take the first for the only one."""
    backend = find_backend(root, "cpu")
    plugin = [json.dumps({"name": backend.pjrt_name, "library": backend.library_member})] if client == "plugin" else []
    disabled = {backend.disable: "1"} if client == "built-in" else {}
    environ = clean_environ(XLA_FLAGS="--xla_force_host_platform_device_count=4", **disabled)

    def run(program: Path) -> tuple[str, str]:
        command = [str(wheel_python), "-I", smoke.__file__, str(program), *plugin]
        answer, end = ask_process(command, 300, environ=environ)
        return program.stem, answer["detail"] if answer and answer["outcome"] == "failed" else end.explain()

    programs = sorted((root / "tests/smoke").glob("*.py"))
    failed = {name: said for name, said in run_all(run, programs, 2) if not said.startswith("exit status 0")}
    assert failed == {}
