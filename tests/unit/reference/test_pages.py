# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The generated pages are those of the code, and leave nothing out."""

from __future__ import annotations

import argparse
import inspect
import re
from dataclasses import dataclass, field
from pathlib import Path

import nox.registry
import pytest

import jaxlib_select.errors
import pjrtwheel.errors
from jaxlib_select.cli import COMMANDS as SELECT_COMMANDS
from jaxlib_select.cli import make_parser as make_select_parser
from pjrtwheel.backend import load_backends
from pjrtwheel.cli import COMMANDS, make_parser
from pjrtwheel.errors import UsageError
from pjrtwheel.reference.__main__ import main
from pjrtwheel.reference.arguments import list_arguments, render_arguments
from pjrtwheel.reference.keys import render_keys
from pjrtwheel.reference.pages import FOLDER, render_pages
from pjrtwheel.reference.sessions import ENVIRONMENT, load_sessions
from pjrtwheel.tables import column

ROOT = Path(__file__).resolve().parents[3]
SESSIONS = load_sessions(ROOT)


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Return the pages as they would be written now, by name."""
    return {Path(path).stem: text for path, text in render_pages(ROOT).items()}


def test_the_pages_are_up_to_date() -> None:
    """`nox -s update_reference` writes what is in the repository; what it no longer writes is removed by hand."""
    rendered = render_pages(ROOT)
    for path, text in rendered.items():
        assert (ROOT / path).read_text("utf-8") == text, f"{path} is out of date: ./noxw -s update_reference"
    folder = ROOT / FOLDER
    generated = [path for path in folder.glob("*.md") if path.read_text("utf-8").startswith("<!-- Written by nox")]
    assert {str(path.relative_to(ROOT)) for path in generated} == set(rendered)


def test_the_program_refuses_another_folder(tmp_path: Path) -> None:
    """Where there is no noxfile, nothing is written."""
    assert main(["--root", str(tmp_path)]) == UsageError.exit_code
    assert list(tmp_path.iterdir()) == []


def test_every_session_is_on_the_page(pages: dict[str, str]) -> None:
    """In a heading or a table, those of all backends as one."""
    named = set(re.findall(r"^(?:### |\| )(`\w+`(?:, `\w+`)*)", pages["sessions"], re.MULTILINE))
    words = {word.strip("` ") for names in named for word in names.split(",")}
    expanded = {word.replace("BACKEND", name) for word in words for name in load_backends(ROOT)}
    assert set(nox.registry.get()) - expanded == set()
    assert len(nox.registry.get()) > 50


@pytest.mark.parametrize("name", SESSIONS)
def test_what_a_session_takes_is_known(name: str) -> None:
    """A session that hands arguments on has a parser, is pytest, or takes names of a table."""
    session = SESSIONS[name]
    takes = "posargs" in inspect.getsource(inspect.unwrap(nox.registry.get()[name].func))
    if name in {"lint", "format"}:  # what they share does it
        takes = True
    assert takes is (session.parser is not None or session.pytest or bool(session.choices))


@pytest.mark.parametrize(
    "parser",
    [
        *(session.parser for session in SESSIONS.values() if session.parser),
        *map(make_parser, COMMANDS),
        *map(make_select_parser, SELECT_COMMANDS),
    ],
    ids=lambda parser: parser.prog.replace(" ", "_"),
)
def test_every_argument_says_what_it_is(parser: argparse.ArgumentParser) -> None:
    """So that no row of a page is empty."""
    assert [action.dest for action in list_arguments(parser) if not action.help] == []


def test_every_command_is_on_a_page(pages: dict[str, str]) -> None:
    """Either a session runs it, or it has a section of its own."""
    run = {session.program.split()[-1] for session in SESSIONS.values() if session.program}
    listed = set(re.findall(r"^## `(\w+)`$", pages["commands"], re.MULTILINE))
    assert listed == set(COMMANDS) - run
    assert set(re.findall(r"^## `(\w+)`$", pages["jaxlib-select"], re.MULTILINE)) == set(SELECT_COMMANDS)


def test_every_error_is_on_the_page(pages: dict[str, str]) -> None:
    """With its status, those of both command lines."""
    kinds = [
        kind
        for module in (pjrtwheel.errors, jaxlib_select.errors)
        for kind in vars(module).values()
        if isinstance(kind, type) and hasattr(kind, "exit_code")
    ]
    assert len(kinds) > 15
    assert [kind for kind in kinds if f"| {kind.exit_code} | `{kind.__name__}` |" not in pages["exit-statuses"]] == []


@pytest.mark.parametrize(
    ("name", "arguments", "fits"),
    [
        ("build_cpu", ["--release", "1.2.3", "--no-smoke"], True),
        ("build_cpu", ["--relase", "1.2.3"], False),
        ("smoke_cpu", ["--proofs", "FILE"], True),
        ("merge", ["a"], False),
        ("lint", ["types"], True),
        ("lint", ["typos"], False),
        ("unit", ["-k", "pin"], True),
        ("lock_tools", [], True),
        ("lock_tools", ["--all"], False),
        ("debian", ["--suite", "trixie", "true"], True),
        ("debian", ["--sweet", "trixie", "true"], False),
    ],
)
def test_arguments_are_read_as_the_session_does(name: str, arguments: list[str], *, fits: bool) -> None:
    """What it would refuse is refused."""
    if fits:
        SESSIONS[name].parse(arguments)
    else:
        with pytest.raises((UsageError, ValueError, SystemExit)):
            SESSIONS[name].parse(arguments)


def test_arguments_become_a_table() -> None:
    """As they are typed, with what argparse would add; what a session gives is left out."""
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*", metavar="FILE", help="a|b, see https://example.org/")
    parser.add_argument("-o", "--output", required=True, help="default: %(default)s", default="x")
    parser.add_argument("--tool", action="append", metavar="NAME=PATH", help="as NAME_*")
    parser.add_argument("--kind", choices=["a", "b"], help="which")
    parser.add_argument("--given", action="store_true", help="already there")
    parser.add_argument("--secret", help=argparse.SUPPRESS)
    assert render_arguments(parser, ["--given"]).splitlines() == [
        "| argument | meaning |",
        "|---|---|",
        r"| `[FILE...]` | a\|b, see <https://example.org/> |",
        "| `-o, --output OUTPUT` | default: x; required |",
        r"| `--tool NAME=PATH` | as NAME_\*; may be repeated |",
        r"| `--kind a\|b` | which |",
    ]
    assert "FILE" not in render_arguments(parser, ["name", "--given"])


@dataclass(frozen=True)
class Inner:
    """What is within.

    Attributes:
        size: How large.
    """

    size: int = 0


@dataclass(frozen=True)
class Outer:
    """The document.

    Attributes:
        name: Its name.
        path: Where it was read.
        one: One of them.
        many: Several of them.
        named: Several with names.
        flag: Whether.
    """

    name: str
    path: str
    one: Inner | None = None
    many: tuple[Inner, ...] = column(key="item", default=())
    named: dict[str, tuple[str, ...]] = field(default_factory=dict)
    flag: bool = True


def test_dataclasses_become_tables_of_keys() -> None:
    """One for each dataclass, where it is first found; what the reader is given is no key."""
    assert render_keys(Outer, given={"path"}).splitlines() == [
        "The document.",
        "",
        "| key | value | default | meaning |",
        "|---|---|---|---|",
        "| `name` | string | required | Its name. |",
        "| `one` | table `[one]` |  | One of them. |",
        "| `item` | list of tables `[one]` |  | Several of them. |",
        "| `named` | table: name → list of strings |  | Several with names. |",
        "| `flag` | true or false | `true` | Whether. |",
        "",
        "### `[one]`",
        "",
        "What is within.",
        "",
        "| key | value | default | meaning |",
        "|---|---|---|---|",
        "| `size` | integer |  | How large. |",
    ]
    assert "| `one` | object `one` or null |  | One of them. |" in render_keys(Outer, "json")


def test_environments_are_listed_apart(pages: dict[str, str]) -> None:
    """They are no work of their own."""
    _, _, end = pages["sessions"].partition("## Environments")
    assert all(f"`{name}`" in end for name in SESSIONS if name.startswith(ENVIRONMENT))
