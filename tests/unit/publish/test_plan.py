# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The plan: order, decisions, problems and its printed form, without any destination."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pjrtwheel.fetch.listing import IndexFile
from pjrtwheel.publish.plan import LocalFile, make_plan
from pjrtwheel.wheel.names import parse_name
from release_folders import PLUGIN_TAG, SELECTOR_WHEEL, WHEELS

DOCUMENTS = ("SHA256SUMS", "release.json")


def local(name: str, size: int = 1) -> LocalFile:
    """Return a file of the release, with a digest that follows from its name."""
    project = parse_name(name).distribution if name.endswith(".whl") else ""
    return LocalFile(Path(name), f"{name}-digest", size, project)


def published(name: str, digest: str = "", yanked: str | None = None) -> IndexFile:
    """Return such a file at the destination, or another one."""
    return IndexFile(name, digest or local(name).sha256, 1, yanked)


FILES = [local(name) for name in (*WHEELS, SELECTOR_WHEEL, *DOCUMENTS)]
IN_ORDER = [*DOCUMENTS, *WHEELS[2:], *WHEELS[:2], SELECTOR_WHEEL]


@given(st.permutations(FILES))
def test_the_order_does_not_depend_on_that_of_the_files(files: list[LocalFile]) -> None:
    """Documents, plugins, jaxlib, selector."""
    plan = make_plan("there", files, {})
    assert [file.name for file in plan.files] == IN_ORDER
    assert plan.to_send == plan.files


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
def test_each_problem_is_a_sentence(found: IndexFile, problem: str) -> None:
    """A problem of the limits comes first."""
    plan = make_plan("there", FILES, {found.filename: found}, ["too large"])
    assert plan.problems == ("too large", problem.format(found.filename))


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("jaxlib-1.2.3-cp314-cp314-manylinux_2_27_x86_64.whl", False),  # upstream's
        ("jaxlib-1.2.3+split.2-cp314-cp314-manylinux_2_27_x86_64.whl", False),  # of another set
        (f"jaxlib_beads-1.2.3+split.1-{PLUGIN_TAG}.whl", False),
        ("jaxlib-1.2.3.tar.gz", False),
        ("jaxlib-1.2.3+split.1-cp314-cp314-manylinux_2_27_x86_64.whl", True),
        ("jaxlib-1.2.3+split.1-2-cp312-cp312-manylinux_2_27_x86_64.whl", True),  # which installers prefer to ours
    ],
)
def test_what_installers_could_take_in_place_of_ours_is_refused(name: str, *, refused: bool) -> None:
    """Of our version, under whatever build tag; where a release is alone, as in a draft, any other file is."""
    problem = f"{name} is at there, and not in this release"
    present = {name: published(name)}
    assert make_plan("there", FILES, present).problems == ((problem,) if refused else ())
    assert make_plan("there", FILES, present, alone=True).problems == (problem,)
