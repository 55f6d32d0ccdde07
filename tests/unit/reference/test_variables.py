# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Every environment variable that is read is documented, and every one that is documented is read."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pjrtwheel.publish.destinations import load_destinations
from pjrtwheel.publish.place import variable_of
from pjrtwheel.reference.variables import INTERNAL, find_disabling, find_settings, list_variables

ROOT = Path(__file__).resolve().parents[3]
OURS = re.compile(r"\b(?:PJRTWHEEL|JAXLIB)_[A-Z0-9_]*[A-Z0-9](?!\w|_H_)")
# Where programs are; tests set variables, and invent some.
FOLDERS = ("build", "ci", "jaxlib", "plugins", "selector", ".github", "noxw", "noxfile.py", "tests/conftest.py")
SUPPORT = ("tests/support/browser.py", "tests/support/release_under_test.py", "tests/integration")
# What every program has, or what is only handed on or taken away.
COMMON = {"PATH"}
SUFFIXES = {"", ".bzl", ".c", ".h", ".py", ".toml", ".yml"}
FOREIGN = {"APPTAINER_CONTAINER", "SINGULARITY_CONTAINER", "KUBERNETES_SERVICE_HOST"}  # which container this is


def texts(*paths: str) -> Iterator[tuple[Path, str]]:
    """Yield the programs of some folders, but for the pages about variables and their table."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *paths]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    for path in (ROOT / name for name in names if name):
        if path.suffix in SUFFIXES and path.is_file() and not path.is_relative_to(ROOT / "build/pjrtwheel/reference"):
            yield path, path.read_text("utf-8")


@pytest.fixture(scope="module")
def documented() -> set[str]:
    """Return the names that the page has."""
    return {variable.name for variables in list_variables(ROOT).values() for variable in variables}


def fits(name: str, documented: set[str]) -> bool:
    """Whether a name, or one that it is an example or the beginning of, is documented."""
    patterns = [re.escape(known).replace("<PACKAGE>", r"\w*") for known in documented]
    prefixes = {f"PJRTWHEEL_{place.upper()}" for place in load_destinations(ROOT)}
    return any(re.fullmatch(pattern, name) for pattern in patterns) or name in prefixes


def test_every_variable_of_ours_is_documented(documented: set[str]) -> None:
    """A program that reads a new one has a row in `pjrtwheel.reference.variables`."""
    found = {name for _, text in texts(*FOLDERS, *SUPPORT) for name in OURS.findall(text)}
    assert len(found) > 20
    assert {name for name in found if not fits(name, documented)} - {"JAXLIB_SELECT", "JAXLIB_SELECT_BACKEND"} == set()


def test_every_variable_on_the_page_is_read() -> None:
    """Those of destinations and backends follow from data; the others stand somewhere by their name."""
    everything = "".join(text for _, text in texts(*FOLDERS, *SUPPORT))
    derived = {variable.name for variable in (*find_settings(ROOT), *find_disabling(ROOT))}
    names = {variable.name for variables in list_variables(ROOT).values() for variable in variables} - derived
    assert [name for name in names if name.partition("<")[0] not in everything] == []


def literals(path: Path, text: str) -> Iterator[str]:
    """Yield the names that a file of Python reads from an environment, as far as they stand there."""
    for node in ast.walk(ast.parse(text, str(path))):
        match node:
            case (
                ast.Call(
                    func=ast.Attribute(value=ast.Name(id="environ") | ast.Attribute(attr="environ"), attr="get"),
                    args=[ast.Constant(value=str(name)), *_],
                )
                | ast.Subscript(
                    value=ast.Name(id="environ") | ast.Attribute(attr="environ"),
                    slice=ast.Constant(value=str(name)),
                    ctx=ast.Load(),
                )
            ):
                yield name


def test_every_other_variable_that_is_read_is_documented(documented: set[str]) -> None:
    """Those of others, too, by whatever name `environ` is asked for."""
    found = {
        name
        for path, text in texts("build", "ci", "plugins", "selector", "noxw", "noxfile.py")
        if path.suffix == ".py" or path.name == "noxw"
        for name in literals(path, text)
    }
    assert len(found) > 20
    assert found - COMMON - FOREIGN - documented == set()


def test_no_variable_is_listed_twice_under_one_heading() -> None:
    """Or in two places for ours, of which one would be forgotten."""
    for title, variables in list_variables(ROOT).items():
        names = [variable.name for variable in variables]
        assert len(names) == len(set(names)), title
    ours = [v.name for variables in list_variables(ROOT).values() for v in variables if OURS.match(v.name)]
    assert len(ours) == len(set(ours))


def test_a_destination_has_a_variable_for_each_setting(documented: set[str]) -> None:
    """By the rule that `publish` has."""
    assert variable_of("stage", "index-url") in documented
    assert {variable.name for variable in INTERNAL} <= documented
