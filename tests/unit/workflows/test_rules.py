# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What holds for every workflow, whatever it does: time, space, permissions, pins."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[3]
PATHS = {path.stem: path for path in sorted((ROOT / ".github/workflows").glob("*.yml"))}
WORKFLOWS: dict[str, dict[str, Any]] = {name: YAML(typ="safe").load(path) for name, path in PATHS.items()}
JOBS = {f"{name}.{job}": body for name, workflow in WORKFLOWS.items() for job, body in workflow["jobs"].items()}
# Job → what its token may do; all others may only read the repository, or nothing at all.
MORE_THAN_READING = {
    "bump.bump": {"contents": "read", "actions": "read"},
    "bump.propose": {"contents": "write", "pull-requests": "write"},
    "pages.deploy": {"pages": "write", "id-token": "write"},
    "release.attest": {"id-token": "write", "attestations": "write"},
    "release.pages": {"contents": "read", "pages": "write", "id-token": "write"},
    "release.publish": {"contents": "write"},
    "reproduce.reproduce": {"contents": "read", "attestations": "read"},
}


def steps_of(job: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of a job; one that calls another workflow has none."""
    found: list[dict[str, Any]] = job.get("steps", [])
    return found


def steps_with(action: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the job and the settings of each step that uses an action."""
    for name, job in JOBS.items():
        for step in steps_of(job):
            if step.get("uses", "").startswith(f"{action}@"):
                yield name, step


@pytest.mark.parametrize("name", [name for name, job in JOBS.items() if "uses" not in job])
def test_every_job_ends(name: str) -> None:
    """The server would stop it after six hours; a machine of one's own, never."""
    assert isinstance(JOBS[name].get("timeout-minutes"), int)


def test_every_artifact_expires_and_is_there() -> None:
    """The server's default is ninety days, and a warning where a pattern finds nothing."""
    settings = [step["with"] for _, step in steps_with("actions/upload-artifact")]
    pages = [step["with"]["retention-days"] for _, step in steps_with("actions/upload-pages-artifact")]
    assert pages == [7]
    assert len(settings) >= 6
    days = [int(number) for entry in settings for number in re.findall(r"\b\d+\b", str(entry["retention-days"]))]
    assert len(days) >= len(settings)
    assert all(1 <= number <= 30 for number in days)
    assert {entry["if-no-files-found"] for entry in settings} == {"error"}


@pytest.mark.parametrize("name", PATHS)
def test_every_action_is_pinned_to_a_commit(name: str) -> None:
    """And says its version, which dependabot reads; one version of each is in use."""
    used = [line.partition("uses: ")[2] for line in PATHS[name].read_text("utf-8").splitlines() if "uses: " in line]
    foreign = [use for use in used if not use.startswith("./")]
    assert foreign
    assert [use for use in foreign if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v?\d+\.\d+\.\d+", use)] == []


def test_one_version_of_each_action_is_used() -> None:
    """An update reaches all of them."""
    pins = set(re.findall(r"uses: ([\w-]+/[\w-]+)[\w/-]*@(\w+ # \S+)", "".join(p.read_text() for p in PATHS.values())))
    assert len({action for action, _ in pins}) == len(pins)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_gives_no_permission_by_itself(name: str) -> None:
    """Each job asks for what it needs."""
    assert WORKFLOWS[name]["permissions"] == {}


@pytest.mark.parametrize("name", JOBS)
def test_jobs_may_do_no_more_than_they_need(name: str) -> None:
    """Only those that are listed here have more than reading."""
    expected = MORE_THAN_READING.get(name, {"contents": "read"})
    assert JOBS[name].get("permissions", {}).items() <= expected.items()
    if name in MORE_THAN_READING:
        assert JOBS[name]["permissions"] == expected


def test_no_checkout_keeps_the_token() -> None:
    """What runs later in the job could push with it."""
    assert {step["with"]["persist-credentials"] for _, step in steps_with("actions/checkout")} == {False}


def test_a_job_that_may_write_has_an_approval_or_runs_nothing_downloaded() -> None:
    """`publish` waits for a person; `propose` only applies a patch."""
    assert JOBS["release.publish"]["environment"] == "release"
    assert not any("noxw" in step.get("run", "") for step in steps_of(JOBS["bump.propose"]))


def test_only_main_writes_the_cache_of_downloads() -> None:
    """What is in it is compared with pins when it is read, and yet nobody else fills it."""
    saved = list(steps_with("actions/cache/save"))
    assert [job for job, _ in saved] == ["ci.wheels"]
    assert all(step["if"].startswith("github.ref == 'refs/heads/main' && ") for _, step in saved)
    assert list(steps_with("actions/cache")) == []
    ((job, step),) = steps_with("actions/cache/restore")
    assert job == "ci.wheels"
    assert "hashFiles(format('releases/{0}.toml', matrix.release))" in step["with"]["key"]


def test_accelerators_are_never_lent_to_a_pull_request() -> None:
    """The job has nothing to do unless the matrix names a machine."""
    (read,) = (step for step in steps_of(JOBS["ci.matrix"]) if step.get("id") == "read")
    assert read["env"]["ACCELERATORS"].startswith("${{ github.event_name != 'pull_request' && ")
    job = JOBS["ci.accelerators"]
    assert job["if"] == "toJSON(fromJSON(needs.matrix.outputs.jobs).accelerators) != '[]'"
    assert "releases" in job["needs"]  # what is published was joined before anything runs there
    uploaded = [step["with"]["path"] for step in steps_of(job) if "upload-artifact" in step.get("uses", "")]
    assert uploaded == ["proofs/"]


def test_no_release_is_cancelled() -> None:
    """Neither by another run of the release, nor in the jobs of CI that it calls."""
    assert WORKFLOWS["release"]["concurrency"]["cancel-in-progress"] is False
    assert WORKFLOWS["ci"]["concurrency"]["group"].endswith("&& github.ref || github.run_id }}")
    # Of the jobs that wait under a lock, the server keeps only the newest.
    assert [name for name, job in JOBS.items() if "concurrency" in job] == []


def test_what_runs_by_hand_publishes_nothing_unless_asked() -> None:
    """And a tag publishes without being asked, so only these two start a release."""
    triggers = WORKFLOWS["release"]["on"]
    assert set(triggers) == {"push", "workflow_dispatch"}
    assert triggers["workflow_dispatch"]["inputs"]["dry_run"]["default"] is True


def test_publishing_waits_for_checks_and_the_stage() -> None:
    """Each job needs the success of the one before, not only its end."""
    order = ["check", "stage", "attest", "publish", "pages"]
    for before, after in itertools.pairwise(order):
        job = JOBS[f"release.{after}"]
        assert before in (job["needs"] if isinstance(job["needs"], list) else [job["needs"]])
        assert f"needs.{before}.result == 'success'" in job["if"]


def runs_of(name: str) -> list[str]:
    """Return what each step of a job runs or uses."""
    return [step.get("run", step.get("uses", "").partition("@")[0]) for step in steps_of(JOBS[name])]


def find_run(name: str, part: str) -> int:
    """Return the number of the only step of a job that has this part."""
    (found,) = (index for index, run in enumerate(runs_of(name)) if part in run)
    return found


def test_what_a_destination_refuses_is_not_signed() -> None:
    """It is asked by a job that comes before the signature, and fails where the release may not go there."""
    step = steps_of(JOBS["release.check"])[find_run("release.check", "checked --dry-run")]
    assert step["continue-on-error"] == "${{ needs.tag.outputs.publish != 'true' }}"
    assert "check" in JOBS["release.attest"]["needs"]


def test_the_job_that_signs_runs_nothing_else() -> None:
    """Whatever it ran or installed could sign as well."""
    *others, last = runs_of("release.attest")
    assert last == "actions/attest"
    assert [run for run in others if not run.startswith("sha256sum ")] == ["actions/download-artifact"]


@pytest.mark.parametrize("name", ["release.stage", "release.attest", "release.publish"])
def test_what_was_checked_goes_on_and_nothing_else(name: str) -> None:
    """Each job takes the artifact by its number, and holds it to the checksums, before anything is done with it."""
    number = find_run(name, "actions/download-artifact")
    taken, compared = steps_of(JOBS[name])[number : number + 2]
    assert taken["with"] == {"artifact-ids": "${{ needs.check.outputs.artifact }}", "path": "checked/"}
    assert compared["env"] == {"SUMS": "${{ needs.check.outputs.sums }}"}
    assert compared["working-directory"] == "checked"
    assert compared["run"].splitlines() == [
        'sha256sum --check --strict --quiet <<< "$SUMS  SHA256SUMS"',
        "sha256sum --check --strict --quiet SHA256SUMS",
    ]
    assert find_run("release.check", "actions/upload-artifact") > find_run(
        "release.check", "$(sha256sum checked/SHA256SUMS)"
    )


def test_what_was_built_is_checked_and_nothing_else() -> None:
    """The jobs that upload wheels say what all their files are, and the next one compares that first."""
    runs = runs_of("release.check")
    number = find_run("release.check", "ci/hash_folder.py")
    assert runs[number] == 'python3 ci/hash_folder.py dist "$DIGEST"'
    assert runs[number - 1] == "actions/download-artifact"
    assert not any("noxw" in run for run in runs[:number])
    for job in ("ci.releases", "release.select"):
        assert find_run(job, "$(python3 ci/hash_folder.py dist)") == find_run(job, "actions/upload-artifact") - 1
    outputs = WORKFLOWS["ci"]["on"]["workflow_call"]["outputs"]
    assert outputs["digest"]["value"] == "${{ jobs.releases.outputs.digest }}"


def test_a_tag_is_looked_at_again_before_anything_is_sent() -> None:
    """It may have moved while somebody was asked."""
    assert find_run("release.publish", "ls-remote") < find_run("release.publish", "noxw table --help")


def test_pages_are_built_and_deployed_under_one_lock() -> None:
    """From the withdrawals of today, and after each of them; the older of two indexes is never deployed last."""
    workflow = WORKFLOWS["pages"]
    assert workflow["concurrency"] == {"group": "pages", "cancel-in-progress": False}
    assert set(workflow["jobs"]) == {"build", "deploy"}
    assert [name for name, job in JOBS.items() if "deploy-pages" in str(job)] == ["pages.deploy"]
    assert workflow["on"]["push"] == {"branches": ["main"], "paths": ["releases/yanked.toml", "docs/**"]}
    (checkout,) = (step["with"] for name, step in steps_with("actions/checkout") if name == "pages.build")
    assert checkout["ref"] == "main"


def test_the_documentation_is_deployed_with_the_index() -> None:
    """In a folder of its own, after all that is checked against what is in the folder of the pages."""
    order = [find_run("pages.build", part) for part in ("-s pages", "-s docs", "actions/upload-pages-artifact")]
    assert order == sorted(order)
    assert "--output pages/docs" in runs_of("pages.build")[order[1]]


def test_jobs_that_are_called_after_skipped_ones_say_when_they_run() -> None:
    """Either CI or the selector is skipped in a release, and with that what has no condition of its own."""
    assert [job for job in WORKFLOWS["pages"]["jobs"].values() if "!cancelled()" not in job["if"]] == []


def test_a_release_is_built_again_only_if_it_was_made_here() -> None:
    """What it says of itself decides which commit's tooling is run."""
    parts = ["gh attestation verify", "-s verify_release", "setup-bazel", "-s reproduce"]
    order = [find_run("reproduce.reproduce", part) for part in parts]
    assert order == sorted(order)


def test_a_release_has_jaxlib_auto_before_it_is_tested() -> None:
    """After its wheels were joined, for these alone; what is uploaded has been tested with it."""
    parts = ["-s merge", "noxw auto --release ${{ matrix.release }}", "-s tests", "actions/upload-artifact"]
    order = [find_run("ci.releases", part) for part in parts]
    assert order == sorted(order)


def test_documents_name_the_commit_of_the_tag() -> None:
    """And proofs of accelerators the run, for the user of a runner's git is nobody."""
    assert '--commit "$GITHUB_SHA"' in runs_of("release.check")[find_run("release.check", "-s attest")]
    assert '--signed-off-by "$GITHUB_REPOSITORY ' in runs_of("ci.accelerators")[find_run("ci.accelerators", "-s smoke")]


@pytest.mark.parametrize("name", ["ci.wheels", "ci.releases", "ci.index", "release.check", "release.stage"])
def test_jobs_with_many_files_look_at_the_disk_first(name: str) -> None:
    """Before anything large is on it."""
    runs = [step.get("run", step.get("uses", "")) for step in steps_of(JOBS[name])]
    (look,) = (index for index, run in enumerate(runs) if run.startswith("python3 ci/check_disk.py "))
    large = ("actions/download-artifact", "actions/cache", "./noxw -s build_")
    assert all(index > look for index, run in enumerate(runs) if run.startswith(large))


@pytest.mark.parametrize("name", ["ci", "pages", "release"])
def test_the_stand_ins_know_what_the_workflows_ask_of_actions(name: str) -> None:
    """Those that say of themselves that they do nothing know nothing; act would drop any other setting silently."""
    asked = [(step["uses"].partition("@")[0], set(step.get("with", {}))) for _, step in _using_steps(name)]
    assert asked
    for action, settings in asked:
        path = ROOT / "tests/workflows/actions" / action.partition("/")[2] / "action.yml"
        stand_in = YAML(typ="safe").load(path)
        assert stand_in["description"] == "nothing" or settings <= stand_in.get("inputs", {}).keys(), action


def _using_steps(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for job in WORKFLOWS[name]["jobs"]:
        yield from ((job, step) for step in steps_of(JOBS[f"{name}.{job}"]) if "uses" in step)
