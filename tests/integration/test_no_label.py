# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Wheels of whoever owns the names on the public index: versions without a label, and a build tag for `jaxlib`."""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bazel_outputs import remove_outputs
from pjrtwheel import cli
from pjrtwheel.backend import find_backend, load_backends
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.pin import render_release
from pjrtwheel.platforms import host_platform
from pjrtwheel.products.facts import code_of_record, format_facts, make_facts, read_old
from pjrtwheel.prove.on_python import run_program
from pjrtwheel.record.entries import read_entries
from pjrtwheel.record.proofs import Outcome
from pjrtwheel.release.model import Release
from pjrtwheel.wheel.names import parse_name

pytestmark = [pytest.mark.integration, pytest.mark.slow]


@pytest.fixture(scope="module")
def owners(release: Release, interpreter: Interpreter) -> Release:
    """Return the release as the owner pins it, here for one Python alone."""
    wanted = f"bindings.{interpreter.tag}."
    pins = {key: pin for key, pin in release.pins.items() if key.startswith(wanted) or not key.startswith("bindings.")}
    return replace(release, label="", pins=pins)


@pytest.fixture(scope="module")
def dist(
    owners: Release, copy_checkout: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """Return a folder with the owner's real wheels for the CPU, which were verified."""
    checkout = copy_checkout(tmp_path_factory.mktemp("owner") / "checkout")
    (checkout / "releases" / f"{owners.version}.toml").write_text(render_release(owners), "utf-8")
    options = ["--root", str(checkout), "--dist", str(checkout / "dist"), "--no-smoke", "--level", "1"]
    assert cli.main(["build", "cpu", "--release", owners.version, *options]) == 0
    yield checkout / "dist"
    remove_outputs(checkout)


@pytest.fixture(scope="module")
def python(dist: Path, install_wheels: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment into which they were installed by name, next to JAX."""
    return install_wheels(dist, tmp_path_factory.mktemp("no_label"))


def test_names_and_requirements_have_no_label(dist: Path, owners: Release, interpreter: Interpreter) -> None:
    """The build tag is all that tells our `jaxlib` from upstream's; plugin and extras ask for the plain version."""
    entries = {entry.distribution: entry for entry in read_entries(dist).values()}
    names = {distribution: parse_name(entry.filename) for distribution, entry in entries.items()}
    upstream = parse_name(owners.pin(f"bindings.{interpreter.tag}.{host_platform().name}").filename)
    assert {name: (found.version, found.build) for name, found in names.items()} == {
        "jaxlib": (owners.version, "1"),
        "jaxlib-cpu": (owners.version, ""),
    }
    assert names["jaxlib"].tag == upstream.tag
    assert entries["jaxlib-cpu"].requires == (f"jaxlib=={owners.version}",)
    assert f'jaxlib-cpu=={owners.version}; sys_platform == "linux" and extra == "cpu"' in entries["jaxlib"].requires


@pytest.mark.parametrize("program", ["jit", "linalg"])
def test_jax_runs_on_the_plugin(python: Path, root: Path, program: str) -> None:
    """The locks agree."""
    result = run_program(python, root / "tests" / "smoke" / f"{program}.py", find_backend(root, "cpu"))
    assert result.outcome is Outcome.PASSED, result.detail


def test_the_selector_asks_for_the_plain_version(python: Path, owners: Release, root: Path, tmp_path: Path) -> None:
    """With facts that were written for such a release; its doctor has nothing to say against the installation."""
    shutil.copytree(root / "selector", tmp_path / "selector", ignore=shutil.ignore_patterns("__pycache__"))
    path = tmp_path / "selector/jaxlib_select/facts" / f"{owners.version}.json"
    facts = make_facts(load_backends(root).values(), owners, code_of_record(read_old(path), owners))
    path.write_text(format_facts(facts), "utf-8")
    said = {}
    for command in ("resolve", "doctor"):
        arguments = [f"jax=={owners.version}", "--backend=cpu", "--provider=ours"] if command == "resolve" else []
        words = [python, "-m", "jaxlib_select", command, *arguments, "--json"]
        environ = clean_environ(PYTHONPATH=str(tmp_path / "selector"))
        said[command] = json.loads(subprocess.check_output(words, cwd=tmp_path, env=environ))
    assert f"jaxlib-cpu=={owners.version}" in json.dumps(said["resolve"])
    assert said["doctor"]["findings"] == []
