# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What neither zizmor, the schema nor act sees of the workflows: limits, powers, and scripts that nothing else runs."""

import os
import re
import shutil
import subprocess
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from folders import write_files, write_program
from gh_program import SETTINGS, make_stand_in
from git_repository import git
from pjrtwheel import tables
from pjrtwheel.backend import load_backends
from pjrtwheel.docs.generated import render_generated
from pjrtwheel.platforms import REFERENCE
from pjrtwheel.products.facts import facts_path
from pjrtwheel.release.known import list_releases, load_release
from pjrtwheel.workflows import list_jobs
from release_under_test import ROOT

WORKFLOWS: dict[str, dict[str, Any]] = {
    path.stem: YAML(typ="safe").load(path) for path in sorted((ROOT / ".github/workflows").glob("*.yml"))
}
JOBS = {f"{name}.{job}": body for name, workflow in WORKFLOWS.items() for job, body in workflow["jobs"].items()}
# Job → what its token may do; all others may only read the repository, or nothing at all.
MORE_THAN_READING = {
    "bump.bump": {"contents": "read", "actions": "read"},
    "bump.propose": {"contents": "write", "pull-requests": "write"},
    "pages.deploy": {"pages": "write", "id-token": "write"},
    "release.attest": {"id-token": "write", "attestations": "write"},
    "release.pages": {"contents": "read", "pages": "write", "id-token": "write"},
    "release.publish": {"contents": "write"},
    "release.settings": {"actions": "read", "contents": "read"},
    "reproduce.reproduce": {"contents": "read", "attestations": "read"},
}


def steps_of(name: str) -> list[dict[str, Any]]:
    """Return the steps of a job; one that calls another workflow has none."""
    found: list[dict[str, Any]] = JOBS[name].get("steps", [])
    return found


def find_step(name: str, part: str) -> dict[str, Any]:
    """Return the only step of a job whose script, or action, has this part."""
    (found,) = (step for step in steps_of(name) if part in step.get("run", step.get("uses", "")))
    return found


@pytest.mark.parametrize("name", JOBS)
def test_jobs_end_and_may_do_no_more_than_they_need(name: str) -> None:
    """The server would stop a job after six hours; a machine of one's own, never."""
    job, expected = JOBS[name], MORE_THAN_READING.get(name, {"contents": "read"})
    assert "uses" in job or isinstance(job["timeout-minutes"], int)
    assert job.get("permissions", {}).items() <= expected.items()
    if name in MORE_THAN_READING:
        assert job["permissions"] == expected


def test_jobs_with_power_run_little() -> None:
    """Whatever the job that signs ran could sign as well; `publish` waits for a person; `propose` applies a patch."""
    used = [step.get("uses", "").partition("@")[0] or step["run"].split()[0] for step in steps_of("release.attest")]
    assert used == ["actions/download-artifact", "sha256sum", "actions/attest"]
    assert JOBS["release.publish"]["environment"] == "release"
    assert not any("noxw" in step.get("run", "") for step in steps_of("bump.propose"))


def test_accelerators_are_never_lent_to_a_pull_request() -> None:
    """What it changes would run on a machine that outlives the job."""
    step = find_step("ci.matrix", "matrix")
    assert step["env"]["ACCELERATORS"].startswith("${{ github.event_name != 'pull_request' && ")
    assert "releases" in JOBS["ci.accelerators"]["needs"]  # what is published was joined before anything runs there


def test_each_job_uses_every_key_of_its_entries_and_no_other() -> None:
    """The server takes a name that is not there for an empty text."""
    releases = [load_release(ROOT, version) for version in list_releases(ROOT)]
    machines = {("cuda13", REFERENCE.name): ("self-hosted", "h100")}
    jobs = list_jobs(releases, tuple(load_backends(ROOT).values()), machines=machines)
    for name, entries in tables.write(jobs).items():
        used = set(re.findall(r"(?<!needs\.)\bmatrix\.(\w+)", str(JOBS[f"ci.{name}"])))
        assert entries
        assert [set(entry) for entry in entries] == [used] * len(entries)


def run_script(step: dict[str, Any], folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the script of a step in a folder, as the server does."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), **environ}
    command = ["bash", "-e", "-c", step["run"]]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)


@pytest.mark.skipif(not shutil.which("jq"), reason="jq is not here; GitHub's machines have it")
def test_a_plugin_wheel_is_built_for_each_platform_that_has_plugins(tmp_path: Path) -> None:
    """The wheel of `pjrtwheel` has the extension that is in them."""
    for name in ("build", "plugins", "releases", "selector"):
        (tmp_path / name).symlink_to(ROOT / name)
    (temp := tmp_path.with_name("temp")).mkdir()
    write_program(temp / "noxw", f'echo "$@" >> {temp}/calls\n')
    (tmp_path / "noxw").symlink_to(temp / "noxw")
    done = run_script(find_step("release.project", "matrix"), tmp_path, RUNNER_TEMP=str(temp))
    assert done.returncode == 0, done.stderr
    *calls, last = [line.split() for line in (temp / "calls").read_text().splitlines()]
    assert last == ["tooling", "--plugins", str(temp / "plugins")]
    assert {path.name for path in tmp_path.iterdir()} == {"build", "noxw", "plugins", "releases", "selector"}
    assert sorted(call[call.index("--platform") + 1] for call in calls) == ["linux_aarch64", "linux_x86_64"]
    assert all(call[0].removeprefix("build_") in load_backends(ROOT) for call in calls)


@pytest.mark.parametrize("options", [(), ("--annotate", "--message=1")], ids=["plain", "annotated"])
def test_a_tag_that_moved_is_noticed(tmp_path: Path, options: tuple[str, ...]) -> None:
    """Also one that is gone; what counts is the commit, whatever kind of tag it is."""
    upstream, clone = tmp_path / "upstream", tmp_path / "clone"
    upstream.mkdir()
    git(upstream, "init")
    git(upstream, "commit", "--allow-empty", "--message=1")
    git(upstream, "tag", "--force", *options, "v1")
    git(upstream, "tag", "v1.2")
    git(tmp_path, "clone", str(upstream), str(clone))
    checked, step = git(upstream, "rev-parse", "main"), find_step("release.publish", "ls-remote")

    def look() -> int:
        return run_script(step, clone, TAG="v1", GITHUB_SHA=checked).returncode

    assert look() == 0
    git(upstream, "commit", "--allow-empty", "--message=2")
    git(upstream, "tag", "--force", *options, "v1")
    assert look() == 1
    git(upstream, "tag", "zz/refs/tags/v1", checked)  # which ls-remote lists as well
    assert look() == 1
    git(upstream, "tag", "--delete", "v1")
    assert look() == 1


EXPECTED = re.sub(r"\${{.+?}}", "github-pages", find_step("release.settings", "rulesets")["env"]["EXPECTED"])


@pytest.mark.skipif(not shutil.which("jq"), reason="jq is not here; GitHub's machines have it")
@pytest.mark.parametrize(
    ("changed", "pattern"),
    [
        ({}, "^$"),
        (dict.fromkeys(SETTINGS), ""),  # nothing can be read
        ({"environments/release": SETTINGS["environments/index"] | {"name": "release"}}, "release: required_reviewers"),
        ({"rulesets": [entry | {"enforcement": "evaluate"} for entry in SETTINGS["rulesets"]]}, "^refs/"),
        ({"rulesets/2": SETTINGS["rulesets/2"] | {"rules": [{"type": "update"}, {"type": "deletion"}]}}, "creation"),
        ({"rules/branches/main": [], "codeowners/errors": {"errors": [{}]}}, "^main|^CODEOWNERS"),
    ],
)
def test_settings_that_are_missing_end_a_release(changed: dict[str, Any], pattern: str, tmp_path: Path) -> None:
    """An environment that GitHub does not know, it makes without protection; all that is missing is named at once."""
    github = make_stand_in(tmp_path / "github")
    github.set(api={**SETTINGS, **changed})
    path = f"{github.store / 'bin'}{os.pathsep}{os.environ['PATH']}"
    step = find_step("release.settings", "rulesets")
    done = run_script(step, tmp_path, **github.environ, LC_ALL="C", EXPECTED=EXPECTED, PATH=path, SHELLOPTS="pipefail")
    missing = sorted(line for line in EXPECTED.splitlines() if re.search(pattern, line))
    assert (done.returncode, done.stdout.strip().partition("missing: ")[2]) == (bool(missing), ", ".join(missing))


def test_only_a_commit_of_main_is_built_again(tmp_path: Path) -> None:
    """The tooling of that commit is run; what the release says of it is read from what `verify_release` prints."""
    git(tmp_path, "init")
    for branch in ("main", "other"):
        git(tmp_path, "checkout", "-B", branch)
        git(tmp_path, "commit", "--allow-empty", f"--message={branch}")
    git(tmp_path, "update-ref", "refs/remotes/origin/main", "main")
    said = {
        name: f'echo \'{{"commit": "{git(tmp_path, "rev-parse", name)}"}}\'; exit 14\n' for name in ("main", "other")
    }
    statuses, step = {}, find_step("reproduce.reproduce", "verify_release")
    for name, script in {**said, "nothing": "", "a failure": said["main"].replace("14", "12")}.items():
        write_program(tmp_path / "noxw", script)
        statuses[name] = run_script(step, tmp_path, TAG="v1", SHELLOPTS="pipefail").returncode
    assert statuses == {"main": 0, "other": 1, "nothing": 1, "a failure": 1}


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ("echo new > releases/2.0.toml; echo b > docs/user/wheels.md; echo b > CHANGELOG.md", 0),
        ("echo b > releases/1.0.toml; echo '{}' > selector/jaxlib_select/facts/2.0.json", 0),
        ("echo new > build/y.py", 1),
        ("echo new > docs/conf.py", 1),  # which runs where the documentation is built
        ("echo b > releases/policy.toml", 1),
        ("echo new > selector/jaxlib_select/facts/x.py", 1),
        ("ln -s ../x releases/2.0.toml", 1),
        ("chmod +x releases/1.0.toml", 1),
        ("rm releases/1.0.toml", 1),
        ("git mv build/x.py releases/3.py.toml", 1),  # a file that moves to an allowed name
    ],
)
def test_a_pull_request_changes_what_a_new_release_changes(change: str, status: int, tmp_path: Path) -> None:
    """The job that writes it trusts nothing of what the one before says, which ran what it had downloaded."""
    names = ("CHANGELOG.md", "build/x.py", "docs/user/wheels.md", "releases/1.0.toml", "releases/policy.toml")
    write_files(tmp_path, {**dict.fromkeys(names, "a\n" * 9), "selector/jaxlib_select/facts/1.0.json": "{}"})
    git(tmp_path, "init")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--message=1")
    subprocess.run(change, cwd=tmp_path, shell=True, check=True)  # noqa: S602 the test's own
    git(tmp_path, "add", "--all")
    patch = git(tmp_path, "diff", "--cached", "--binary")
    git(tmp_path, "reset", "--hard")
    write_files(tmp_path, {"bump/bump.patch": f"{patch}\n"})
    step = find_step("bump.propose", "git apply")
    done = run_script(step, tmp_path, **WORKFLOWS["bump"]["env"])
    assert done.returncode == status, done.stdout + done.stderr


def test_what_a_bump_writes_may_be_proposed() -> None:
    """Pins, the selector's facts, and the documents that are generated."""
    version = list_releases(ROOT)[-1]
    written = [f"releases/{version}.toml", str(facts_path(ROOT, version).relative_to(ROOT)), *render_generated(ROOT)]
    allowed = WORKFLOWS["bump"]["env"]["WRITTEN"].split()
    assert [path for path in written if not any(fnmatch(path, pattern) for pattern in allowed)] == []
