# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The one door: what it lists, what it runs, and what it brings along."""

import fcntl
import importlib.machinery
import importlib.util
import json
import os
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from packaging.dependency_groups import resolve_dependency_groups
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pjrtwheel.backend import load_backends
from pjrtwheel.cli.commands import COMMANDS
from pjrtwheel.fetch.cache import cache_root


@pytest.fixture(scope="module")
def noxw(root: Path) -> ModuleType:
    """Return the script as a module; it has no .py suffix to import it by."""
    loader = importlib.machinery.SourceFileLoader("noxw", str(root / "noxw"))
    spec = importlib.util.spec_from_loader("noxw", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def run(*command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program and return what it printed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NOX")}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=kept | variables)


def open_door(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the noxfile as noxw does for what is no command of the tooling."""
    return run(sys.executable, root / "noxfile.py", json.dumps(["--noxfile", str(root / "noxfile.py")]), *words)


def test_without_a_name_it_prints_a_few_tasks_in_groups(root: Path) -> None:
    """Each is there, and says what it does."""
    lines = open_door(root).stdout.splitlines()
    tasks = [line.split()[1:] for line in lines if line.startswith("  ./noxw ")]
    assert [line for line in lines if line.endswith(":")] == [
        "make:",
        "check:",
        "publish:",
        "package a plugin:",
        "develop:",
    ]
    assert len(tasks) <= 14
    assert max(map(len, lines)) <= 80


def test_the_sessions_are_those_that_are_promised(root: Path) -> None:
    """By name, for those who call nox itself; everything else is a command of pjrtwheel."""
    done = run(sys.executable, "-m", "nox", "--noxfile", root / "noxfile.py", "--list")
    sessions = set(re.findall(r"^[*-] (\w+)", done.stdout, re.MULTILINE))
    backends = {f"{verb}_{name}" for verb in ("build", "smoke") for name in load_backends(root)}
    others = {"lint", "format", "unit", "tests", "slow", "fuzz", "docs", "bench", "debian", "update"}
    assert sessions == {*backends, *others, "build_all", "build_jaxlib", "release"}
    assert len(sessions) <= 28


@pytest.mark.parametrize(
    ("words", "status", "line"),
    [
        (["build_cpuu"], 3, "       did you mean build_cpu or "),
        (["inspekt", "a.whl"], 3, "       did you mean inspect?"),
        (["xyz"], 3, "       all sessions and commands: ./noxw -l"),
        (["lint", "typos"], 1, ""),
    ],
    ids=["session", "command", "neither", "argument"],
)
def test_an_unknown_name_gets_the_nearest(root: Path, words: list[str], status: int, line: str) -> None:
    """Of sessions and commands alike; what is known runs in nox, which ends as it does."""
    done = open_door(root, *words)
    assert done.returncode == status
    assert any(said.startswith(line) for said in done.stderr.splitlines())


@pytest.mark.parametrize("name", ["bench", "docs", "format", "lint", "slow", "tests", "unit", "update"])
def test_a_session_says_its_arguments(root: Path, name: str) -> None:
    """Where it is no command, which has a parser, nothing is run for that."""
    done = open_door(root, name, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith((f"usage: ./noxw {name} [", f"usage: ./noxw {name} assemble|"))


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (["-s", "build_cpu", "--", "--no-smoke"], ["build_cpu", "--no-smoke"]),
        (["--session", "build_cpu"], ["build_cpu"]),
        (["build_cpu", "--", "--no-smoke"], ["build_cpu", "--no-smoke"]),
        (["inspect", "a", "--json"], ["inspect", "a", "--json"]),
        (["-s", "lint", "tests"], ["-s", "lint", "tests"]),
        (["-l"], ["-l"]),
        ([], []),
    ],
    ids=str,
)
def test_a_session_may_be_named_as_nox_wants_it(noxw: ModuleType, words: list[str], read: list[str]) -> None:
    """Several sessions, and options of nox, are nox's."""
    assert noxw.read_words(words) == read


def test_a_name_becomes_a_command(noxw: ModuleType) -> None:
    """Of the tooling; what is none is for the noxfile."""
    builds = {"build_cuda12": ["cuda12"], "build_jaxlib": ["--bindings-only"], "build_all": ["--all"]}
    expected = {name: ["build", *words] for name, words in builds.items()} | {name: [name] for name in COMMANDS}
    expected |= {"smoke_cpu": ["smoke", "--backend", "cpu"], "build_cpuu": [], "tests": []}
    assert {name: noxw.find_command(name) for name in expected} == expected


def test_oldest_python_is_the_projects(root: Path, noxw: ModuleType) -> None:
    """The wrapper, which cannot read TOML everywhere, and pyproject.toml agree."""
    required = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"]
    assert tuple(map(int, required.removeprefix(">=").split("."))) == noxw.OLDEST


def test_cache_is_the_toolings(noxw: ModuleType) -> None:
    """The wrapper, which cannot import the tooling, keeps its environments in the same cache."""
    assert noxw.cache_directory() == cache_root(os.environ)


def test_hashed_requirements_are_the_projects(root: Path, noxw: ModuleType) -> None:
    """What wrapper, sessions and Bazel's tools install is what pyproject.toml pins; `./noxw update locks` writes it."""
    groups = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    locks = {path.stem: path for path in (root / "build" / "locks").glob("*.txt")}
    assert "index_servers" in locks
    locks |= {group: root / path for group, path in noxw.LOCKS.items()}
    locks |= {"assemble": root / "build" / "requirements.txt"}
    for group, lock in locks.items():
        lines = re.findall(r"^([\w.-]+)(?:\[(.*)\])?(==\S+)", lock.read_text("utf-8"), re.MULTILINE)
        locked = {name: (set(filter(None, extras.split(","))), specifier) for name, extras, specifier in lines}
        for pin in map(Requirement, resolve_dependency_groups(groups, group)):
            extras, specifier = locked[canonicalize_name(pin.name)]
            assert specifier == str(pin.specifier), group
            assert pin.extras <= extras, group  # or pip looks for the newest version that has them, without a hash


def test_python_that_cannot_be_used_is_an_error_with_a_remedy(root: Path, tmp_path: Path) -> None:
    """A Python that does not run is reported, and nothing is made."""
    done = run(sys.executable, root / "noxw", "-l", PJRTWHEEL_PYTHON="no-such-python", PJRTWHEEL_CACHE=str(tmp_path))
    assert done.returncode == 1
    assert "looked for: no-such-python\n" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_environment_of_a_parallel_run_is_not_made_again(root: Path, noxw: ModuleType, tmp_path: Path) -> None:
    """A run that had to wait for another takes what that one has made; an upgraded Python gets another environment."""
    folder = tmp_path / "noxw"
    folder.mkdir()
    program = "import runpy, sys; print(runpy.run_path(sys.argv[1])['provide_environment']('nox'))"
    environ = {**os.environ, "PJRTWHEEL_CACHE": str(tmp_path)}
    with (folder / "nox.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = [sys.executable, "-c", program, str(root / "noxw")]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environ
        ) as waiting:
            time.sleep(0.5)
            target = folder / noxw.name_environment("nox", noxw.probe(sys.executable)[1])
            (target / "bin").mkdir(parents=True)
            for name in ("complete", "bin/python"):
                (target / name).touch()
            fcntl.flock(lock, fcntl.LOCK_UN)
            output, _ = waiting.communicate(timeout=30)
    assert output == f"{target}/bin/python\n"
    assert noxw.name_environment("nox", ["/usr", "3.11.7", "x86_64"]) != noxw.name_environment(
        "nox", ["/usr", "3.11.8", "x86_64"]
    )


def test_environments_that_nobody_uses_are_removed(noxw: ModuleType, tmp_path: Path) -> None:
    """Those of locks that there were before; other groups have their own."""
    for name, days in (("build-1", 40), ("build-2", 1), ("tests-1", 40)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (0, time.time() - days * 86_400))
    noxw.remove_unused(tmp_path, "build")
    assert {path.name for path in tmp_path.iterdir()} == {"build-2", "tests-1"}


@pytest.mark.parametrize("module", ["ensurepip", "hashlib", "json"])
def test_modules_of_the_working_directory_are_not_run(root: Path, tmp_path: Path, module: str) -> None:
    """It may be a bundle that nobody has checked yet, or a folder of downloads."""
    (tmp_path / f"{module}.py").write_text("import sys\nprint('evil', file=sys.stderr)\nraise SystemExit(99)\n")
    environ = {**os.environ, "PJRTWHEEL_BUNDLE": str(tmp_path / "none"), "PJRTWHEEL_CACHE": str(tmp_path / "cache")}
    environ.pop("PYTHONPATH", None)
    command = [sys.executable, str(root / "noxw"), "-l"]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: no complete bundle in {tmp_path / 'none'}: ")


def test_a_command_runs_no_module_of_the_working_directory(
    noxw: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does what it starts, such as pip: the folder may be one of downloads."""
    for module in ("argparse", "pip", "pjrtwheel"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit('evil')\n")
    started: list[tuple[list[str], dict[str, str]]] = []
    monkeypatch.setattr(noxw, "provide_environment", lambda _: Path(sys.executable))
    monkeypatch.setattr(os, "execve", lambda _, command, environ: started.append((command, environ)))
    noxw.run_command(["merge", "--help"])
    ((command, environ),) = started
    for words in (command, [sys.executable, "-m", "pip", "--version"]):
        done = subprocess.run(words, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
