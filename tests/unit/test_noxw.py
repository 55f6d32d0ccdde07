# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The wrapper that brings nox along."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from packaging.dependency_groups import resolve_dependency_groups
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pjrtwheel.fetch.cache import cache_root


def load(path: Path) -> dict[str, object]:
    """Return what the script defines; it has no .py suffix to import it by."""
    names: dict[str, object] = {"__name__": "noxw", "__file__": str(path)}
    exec(compile(path.read_text("utf-8"), path, "exec"), names)  # noqa: S102
    return names


def test_oldest_python_is_the_projects(root: Path) -> None:
    """The wrapper, which cannot read TOML everywhere, and pyproject.toml agree."""
    required = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"]
    assert load(root / "noxw")["OLDEST"] == tuple(map(int, required.removeprefix(">=").split(".")))


def test_cache_is_the_toolings(root: Path) -> None:
    """The wrapper, which cannot import the tooling, keeps its environment in the same cache."""
    assert load(root / "noxw")["cache_directory"]() == cache_root(os.environ)  # type: ignore[operator]


def test_hashed_requirements_are_the_projects(root: Path) -> None:
    """What wrapper, sessions and Bazel's tools install is what pyproject.toml pins; `nox -s lock_tools` writes it."""
    groups = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    locks = {path.stem: path for path in (root / "build" / "locks").glob("*.txt")}
    assert "index_servers" in locks
    locks |= {"nox": root / "build" / "nox_requirements.txt", "assemble": root / "build" / "requirements.txt"}
    for group, lock in locks.items():
        locked = {line.split(" ")[0] for line in lock.read_text("utf-8").splitlines()}
        pinned = map(Requirement, resolve_dependency_groups(groups, group))
        assert {f"{canonicalize_name(pin.name)}{pin.specifier}" for pin in pinned} - locked == set(), group


def test_python_that_cannot_be_used_is_an_error_with_a_remedy(root: Path, tmp_path: Path) -> None:
    """A Python that does not run is reported in three lines, and nothing is made."""
    environ = {**os.environ, "PJRTWHEEL_PYTHON": "no-such-python", "PJRTWHEEL_CACHE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, root / "noxw", "-l"], env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == (
        "error: no Python 3.11 or newer with venv and pip\n"
        "       looked for: no-such-python\n"
        "       install one (on Debian: apt-get install python3-venv), or name it in PJRTWHEEL_PYTHON\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_upgraded_python_gets_another_environment(root: Path, tmp_path: Path) -> None:
    """The path of an interpreter stays the same when the system upgrades it; its environment would break."""
    python, names = tmp_path / "python3", []
    for version in ("3.11.7", "3.11.8"):
        python.write_text(f"#!/bin/sh\necho {version}\n")
        python.chmod(0o755)
        names.append(load(root / "noxw")["identify"](str(python)))  # type: ignore[operator]
    assert names[0] != names[1]


def test_environment_of_a_parallel_run_is_not_removed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that had to wait for another takes what that one has made."""
    monkeypatch.setenv("PJRTWHEEL_CACHE", str(tmp_path))
    script = load(root / "noxw")
    target = tmp_path / "noxw" / script["identify"](sys.executable)  # type: ignore[operator]
    target.parent.mkdir(parents=True)
    program = "import runpy, sys; print(runpy.run_path(sys.argv[1])['provide_environment'](sys.executable))"
    with target.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = [sys.executable, "-c", program, str(root / "noxw")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as waiting:
            time.sleep(0.5)
            (target / "bin").mkdir(parents=True)
            (target / "bin" / "python").write_text("made by the other run")
            fcntl.flock(lock, fcntl.LOCK_UN)
            output, _ = waiting.communicate(timeout=30)
    assert output == f"{target}\n"
    assert (target / "bin" / "python").read_text() == "made by the other run"


@pytest.mark.parametrize("module", ["ensurepip", "hashlib", "json"])
def test_modules_of_the_working_directory_are_not_run(root: Path, tmp_path: Path, module: str) -> None:
    """It may be a bundle that nobody has checked yet, or a folder of downloads."""
    (tmp_path / f"{module}.py").write_text("import sys\nprint('evil', file=sys.stderr)\nraise SystemExit(99)\n")
    environ = {**os.environ, "PJRTWHEEL_BUNDLE": str(tmp_path / "none"), "PJRTWHEEL_CACHE": str(tmp_path / "cache")}
    environ.pop("PYTHONPATH", None)
    done = subprocess.run(
        [sys.executable, root / "noxw", "-l"], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: no complete bundle in {tmp_path / 'none'}: ")


NOX_OPTIONS = ["--help", "--list", "--session", "--sessions", "--tags", "--verbose"]


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (
            ["-s", "build_cpu", "--no-smoke", "--level", "3"],
            [
                "error: nox has no option --no-smoke",
                "       options of a session come after --",
                "       ./noxw -s build_cpu -- --no-smoke --level 3",
            ],
        ),
        (
            ["-s", "build_cpu", "--dist", "a b", "--", "--level", "3"],
            [
                "error: nox has no option --dist",
                "       options of a session come after --",
                "       ./noxw -s build_cpu -- --dist 'a b' --level 3",
            ],
        ),
        (
            ["--sesion=unit"],
            [
                "error: nox has no option --sesion",
                "       nearest to it: --session",
                "       ./noxw --session=unit",
            ],
        ),
        (["-s", "build_cpu", "--", "--no-smoke"], []),
        (["--sess", "unit", "--verbose", "-x"], []),
    ],
    ids=["forgotten --", "some before it", "slip", "all well", "shortened"],
)
def test_options_that_nox_has_not(root: Path, words: list[str], answer: list[str]) -> None:
    """The answer has the command that was meant, ready to paste."""
    explain = load(root / "noxw")["explain_option"]
    assert explain(words, NOX_OPTIONS).splitlines() == answer  # type: ignore[operator]
