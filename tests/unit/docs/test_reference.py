# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The pages of `docs/reference/` that are kept by hand name what the code has, and nothing else."""

import argparse
import json
import re
import subprocess
from pathlib import Path
from types import ModuleType

import jsonschema  # type: ignore[import-untyped]
import pytest

import jaxlib_select.errors
import pjrtwheel.cli
import pjrtwheel.errors
from jaxlib_select import cli as select_cli
from pjrtwheel.cli.commands import COMMANDS
from pjrtwheel.program import INTERRUPTED
from pjrtwheel.publish.destinations import load_destinations, variable_of
from pjrtwheel.publish.places import OPTIONS
from pjrtwheel.release_check.check import NOT_YET

PROGRAMS = ("build", "ci", "jaxlib", "plugins", "selector", ".github", "noxw", "noxfile.py")
TESTS = ("tests/conftest.py", "tests/integration", "tests/support")
OURS = re.compile(r"\b(?:PJRTWHEEL|JAXLIB)_[A-Z0-9_]*[A-Z0-9](?!\w|_H_)")
READ = re.compile(r"environ(?:\.get\(|\[)\s*\"([A-Z0-9_]+)\"")
# What every program has, what tells which container this is, and the beginnings of names.
UNDOCUMENTED = {"PATH", "PYTHONPATH", "APPTAINER_CONTAINER", "SINGULARITY_CONTAINER", "KUBERNETES_SERVICE_HOST"}
UNDOCUMENTED |= {"JAXLIB_SELECT", "JAXLIB_SELECT_BACKEND"}


def source(root: Path, *paths: str) -> str:
    """Return the programs of some folders, one after the other."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *paths]
    names = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout.decode().split("\0")
    files = [root / name for name in names if Path(name).suffix in {"", ".bzl", ".c", ".h", ".py", ".toml", ".yml"}]
    return "\n".join(path.read_text("utf-8") for path in files if path.is_file())


def test_environment_variables(root: Path) -> None:
    """Each that is read is on the page, each on the page is read, and so is each setting of a destination."""
    page = (root / "docs/reference/environment-variables.md").read_text("utf-8")
    tables, _, own = page.partition("## Set by the tooling itself")
    names = [*re.findall(r"^\| `([^`]+)` \|", tables, re.MULTILINE), *re.findall(r"`(\w+)`", own)]
    documented = {name for name in names if name.isupper()}
    pattern = re.compile("|".join(re.sub("<.*?>", r"\\w+", name) for name in documented))
    text = source(root, *PROGRAMS, *TESTS)
    read = {*OURS.findall(text), *READ.findall(source(root, *PROGRAMS))} - UNDOCUMENTED
    settings = {variable_of(place, option) for place in load_destinations(root) for option in OPTIONS}
    places = {f"PJRTWHEEL_{name.upper()}" for name in load_destinations(root)}
    assert {name for name in (read | settings) - places if not pattern.fullmatch(name)} == set()
    assert {name for name in documented if "<" not in name and name not in text} == set()


def statuses(module: ModuleType) -> set[str]:
    """Return the exit statuses of the errors that a module defines."""
    return {str(value.exit_code) for value in vars(module).values() if hasattr(value, "exit_code")}


def test_exit_statuses(root: Path) -> None:
    """Of both command lines."""
    _, tooling, select = (root / "docs/reference/exit-statuses.md").read_text("utf-8").split("\n## ")
    tables = [set(re.findall(r"^\| (\d+) \|", part, re.MULTILINE)) for part in (tooling, select)]
    own = {str(NOT_YET), str(INTERRUPTED)}
    assert tables[0] == statuses(pjrtwheel.errors) | own
    assert tables[1] == statuses(jaxlib_select.errors) | {str(INTERRUPTED)}


def test_example_of_a_record(root: Path) -> None:
    """It is one, with every key that the schema knows."""
    page = (root / "docs/reference/json-documents.md").read_text("utf-8")
    text = re.sub(r" // .*", "", page.partition("```json5\n")[2].partition("```")[0])
    schema = json.loads((root / "docs/release.schema.json").read_text("utf-8"))
    jsonschema.validate(json.loads(text), schema)
    known = {key for kind in schema["$defs"].values() for key in kind["properties"]}
    assert {key for key in known if f'"{key}":' not in text} == set()


@pytest.mark.parametrize(
    "parser",
    [*map(pjrtwheel.cli.make_parser, COMMANDS), *map(select_cli.make_parser, select_cli.COMMANDS)],
    ids=lambda parser: parser.prog.replace(" ", "_"),
)
def test_every_argument_says_what_it_is(parser: argparse.ArgumentParser) -> None:
    """The pages of commands repeat it."""
    assert [action.dest for action in parser._actions if not action.help] == []
