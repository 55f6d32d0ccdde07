# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A tag publishes what it says, or nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pjrtwheel.cli import main
from pjrtwheel.errors import UsageError
from pjrtwheel.workflows import list_labelled
from release_files import write_release_file

FACTS = "selector/jaxlib_select/facts"


def write_facts(root: Path, release: str, version: str) -> None:
    """Write what the selector knows of one package of a release."""
    backend = {"name": "a", "distribution": "jaxlib-a", "version": version, "family": "a", "tags": {}, "variants": {}}
    text = json.dumps({"schema": 1, "release": release, "backends": [backend]})
    (root / FACTS / f"{release}.json").write_text(text, "utf-8")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with two releases without a label, and one with."""
    for folder in ("plugins", "releases", FACTS):
        (tmp_path / folder).mkdir(parents=True)
    write_release_file(tmp_path, {}, label="")
    write_release_file(tmp_path, {}, version="1.3", label="", build=2)
    write_release_file(tmp_path, {}, version="1.4")
    for folder in (".", "selector"):
        (tmp_path / folder / "pyproject.toml").write_text('[project]\nversion = "0.1.0"\n', "utf-8")
    write_facts(tmp_path, "1.2.3", "1.2.3")
    return tmp_path


@pytest.mark.parametrize(
    ("tag", "release", "artifact"),
    [
        ("v1.2.3", "1.2.3", "release-1.2.3"),
        ("v1.3+2", "1.3", "release-1.3"),
        ("v1.4+split.1", "1.4", "release-1.4"),
        ("select-v0.1.0", "", "select"),
        ("tooling-v0.1.0", "", "tooling"),
    ],
)
def test_a_tag_says_what_is_built_and_published(
    repository: Path, tag: str, release: str, artifact: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A release and its folder of wheels, or a project that belongs to none, by the command that builds it."""
    assert main(["tag", tag, "--root", str(repository)]) == 0
    assert capsys.readouterr().out == f"release={release}\nartifact={artifact}\n"


@pytest.mark.parametrize(
    "tag",
    [
        "v1.2.3+2",
        "v1.2.3+1",
        "v1.2.3+split.1",
        "v1.3",
        "v1.3+3",
        "v1.4",
        "v1.4+split.2",
        "v1.5",
        "1.2.3",
        "v../1.2.3",
        "v",
        "select-v0.2.0",
        "select-0.1.0",
        "tooling-v0.2.0",
    ],
)
def test_another_tag_is_refused(repository: Path, tag: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is built, with those there are; nothing is printed for the workflow to read."""
    assert main(["tag", tag, "--root", str(repository)]) == UsageError.exit_code
    captured = capsys.readouterr()
    assert (captured.out, "v1.2.3, v1.3+2, v1.4+split.1, select-v0.1.0, tooling-v0.1.0\n" in captured.err) == ("", True)


def test_what_the_selector_asks_for_with_a_label_is_listed(repository: Path) -> None:
    """Whichever release it is of; whether that may be published depends on where."""
    assert list_labelled(repository) == ()
    write_facts(repository, "1.4", "1.4+split.1")
    assert list_labelled(repository) == ("jaxlib-a==1.4+split.1",)


@pytest.mark.parametrize("tag", ["v0", "select-v0"])
def test_it_needs_no_package(root: Path, tag: str) -> None:
    """A workflow asks before anything is installed; the repository has neither tag."""
    command = [sys.executable, "-S", "-m", "pjrtwheel", "tag", tag, "--root", str(root)]
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(root / "build")}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr[:7]) == (UsageError.exit_code, "", "error: ")
