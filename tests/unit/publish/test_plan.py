# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The plan: order, decisions, problems and its printed form, without any destination."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pjrtwheel.publish.place import PublishedFile
from pjrtwheel.publish.plan import WIDTH, Action, LocalFile, Scope, format_plan, make_plan
from pjrtwheel.wheel.names import parse_name
from release_folders import PLUGIN_TAG, SELECTOR_WHEEL, WHEELS

DOCUMENTS = ("SHA256SUMS", "release.json")


def local(name: str, size: int = 1) -> LocalFile:
    """Return a file of the release, with a digest that follows from its name."""
    project = parse_name(name).distribution if name.endswith(".whl") else ""
    return LocalFile(name, f"{name}-digest", size, project)


def published(name: str, digest: str = "", yanked: str | None = None) -> PublishedFile:
    """Return such a file at the destination, or another one."""
    return PublishedFile(name, digest or local(name).sha256, 1, "", yanked)


FILES = [local(name) for name in (*WHEELS, SELECTOR_WHEEL, *DOCUMENTS)]
IN_ORDER = [*DOCUMENTS, *WHEELS[2:], *WHEELS[:2], SELECTOR_WHEEL]


@given(st.permutations(FILES))
def test_the_order_does_not_depend_on_that_of_the_files(files: list[LocalFile]) -> None:
    """Documents, plugins, jaxlib, selector."""
    plan = make_plan("v1", "there", files, {})
    assert [step.file.name for step in plan.steps] == IN_ORDER
    assert plan.to_send == tuple(step.file for step in plan.steps)


@given(st.sets(st.sampled_from(FILES)))
def test_what_is_there_is_not_sent(there: set[LocalFile]) -> None:
    """The rest is, in the same order."""
    plan = make_plan("v1", "there", FILES, {file.name: published(file.name) for file in there})
    missing = {file.name for file in FILES} - {file.name for file in there}
    assert [file.name for file in plan.to_send] == [name for name in IN_ORDER if name in missing]
    assert plan.problems == ()


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        (published(WHEELS[0], "other"), f"{WHEELS[0]} is at there with other bytes"),
        (published("SHA256SUMS", "other"), "SHA256SUMS is at there with other bytes"),
        (published(WHEELS[0], yanked="bad"), f"{WHEELS[0]} was yanked at there: bad"),
        (published(WHEELS[0], yanked="\x1b[2Jbad\n"), f"{WHEELS[0]} was yanked at there: \\x1b[2Jbad"),
        (published(WHEELS[0], yanked=""), f"{WHEELS[0]} was yanked at there"),
        (published(WHEELS[0].replace("cp312", "cp314")), "{} is at there, and not in this release"),
    ],
)
def test_each_problem_is_a_sentence(found: PublishedFile, problem: str) -> None:
    """A problem of the limits comes first; a file that is refused is not sent."""
    plan = make_plan("v1", "there", FILES, {found.name: found}, ["too large"])
    assert plan.problems == ("too large", problem.format(found.name))
    refused = [step.file.name for step in plan.steps if step.action is Action.REFUSE]
    assert refused == [name for name in IN_ORDER if name == found.name]


@pytest.mark.parametrize(
    "name",
    [
        "jaxlib-1.2.3-cp314-cp314-manylinux_2_27_x86_64.whl",  # upstream's
        "jaxlib-1.2.3+split.2-cp314-cp314-manylinux_2_27_x86_64.whl",  # of another set
        f"jaxlib_beads-1.2.3+split.1-{PLUGIN_TAG}.whl",
        "jaxlib-1.2.3.tar.gz",
        "index.html",
    ],
)
def test_other_files_are_nobodys_business(name: str) -> None:
    """They belong to another version, set or project."""
    assert make_plan("v1", "there", FILES, {name: published(name)}).problems == ()


@pytest.mark.parametrize(
    "name",
    [
        "jaxlib-1.2.3+split.1-cp314-cp314-manylinux_2_27_x86_64.whl",
        "jaxlib-1.2.3+split.1-2-cp312-cp312-manylinux_2_27_x86_64.whl",  # which installers prefer to ours
        "jaxlib_abacus-1.2.3+split.1.tar.gz",
    ],
)
def test_what_installers_could_take_in_place_of_ours_is_refused(name: str) -> None:
    """Of our version, under whatever build tag; also what they would have to build."""
    problem = f"{name} is at there, and not in this release"
    assert make_plan("v1", "there", FILES, {name: published(name)}).problems == (problem,)


@pytest.mark.parametrize(
    ("name", "foreign"),
    [
        (f"jaxlib_beads-1.2.3+split.1-{PLUGIN_TAG}.whl", True),
        ("jaxlib-1.2.3.tar.gz", True),
        ("notes.txt", True),
        (f"{WHEELS[0]}.metadata", False),
        (f"{WHEELS[0].replace('cp312', 'cp314')}.metadata", True),
    ],
)
def test_nothing_else_lies_where_a_release_is_alone(name: str, *, foreign: bool) -> None:
    """As in a draft, which becomes public as it is; METADATA lies next to its wheel."""
    problems = (f"{name} is at there, and not in this release",) if foreign else ()
    assert make_plan("v1", "there", FILES, {name: published(name)}, scope=Scope(alone=True)).problems == problems


@pytest.mark.parametrize(("version", "foreign"), [("1.2.3+split.1", True), ("1.2.3+split.2", False)])
def test_a_wheel_that_an_extra_would_install_is_refused(version: str, *, foreign: bool) -> None:
    """The release requires it in its own version, and has none."""
    name = f"jaxlib_beads-{version}-{PLUGIN_TAG}.whl"
    problems = (f"{name} is at there, and not in this release",) if foreign else ()
    scope = Scope(extras=frozenset({"jaxlib-beads"}))
    assert make_plan("v1", "there", FILES, {name: published(name)}, scope=scope).problems == problems


def test_a_plan_without_anything_to_send_is_one_line() -> None:
    """Whoever runs it again knows the files."""
    plan = make_plan("v1", "there", FILES, {file.name: published(file.name) for file in FILES})
    assert format_plan(plan) == ["v1 to there: 7 files, 0.0 kB; nothing to send"]


def test_a_refused_plan_has_the_refused_files_alone() -> None:
    """Each with its cause."""
    plan = make_plan("v1", "there", FILES, {WHEELS[0]: published(WHEELS[0], yanked="bad")}, ["too large"])
    head, *lines = format_plan(plan)
    assert head == "v1 to there: 7 files, 0.0 kB"
    assert "".join("".join(lines).split()) == f"refused:toolargerefused:{WHEELS[0]}wasyankedatthere:bad"


@given(st.lists(st.text("abc-_.", min_size=1, max_size=200), unique=True), st.integers(0, 2**36))
def test_no_line_is_longer_than_80_columns(names: list[str], size: int) -> None:
    """Whatever the names are; each is there in full."""
    plan = make_plan("v1", "there", [LocalFile(name, "", size) for name in names], {})
    lines = format_plan(plan)
    assert max(map(len, lines)) <= WIDTH
    assert "".join(line[22:] for line in lines[2:]) == "".join(step.file.name for step in plan.steps)
