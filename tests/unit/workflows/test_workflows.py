# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The workflows run what `matrix` lists, with commands that exist."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import textwrap
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

from folders import write_files
from pjrtwheel import tables
from pjrtwheel.backend import load_backends
from pjrtwheel.cli import build
from pjrtwheel.cli.verify_release import BUILT_FROM
from pjrtwheel.platforms import REFERENCE, find_platform
from pjrtwheel.release.checks import check_inputs
from pjrtwheel.release.known import list_releases, load_release
from pjrtwheel.workflows.jobs import Jobs, list_jobs
from pjrtwheel.workflows.tags import TaggedRelease

ROOT = Path(__file__).resolve().parents[3]
WORKFLOWS = {path.stem: path.read_text("utf-8") for path in (ROOT / ".github/workflows").glob("*.yml")}
BACKENDS = load_backends(ROOT)


@pytest.fixture(scope="module")
def jobs() -> Jobs:
    """Return the jobs for all releases."""
    releases = [load_release(ROOT, version) for version in list_releases(ROOT)]
    machines = {("cuda13", REFERENCE.name): ("self-hosted", "h100")}
    return list_jobs(releases, tuple(BACKENDS.values()), machines=machines)


def job_text(name: str) -> str:
    """Return the part of ci.yml that is about one job."""
    found = re.search(rf"^  {name}:.*\n(?:(?:    .*)?\n)+", WORKFLOWS["ci"], re.MULTILINE)
    assert found
    return found[0]


def line_with(start: str, job: str) -> str:
    """Return the rest of the line of a job that begins so."""
    found = re.findall(rf"^ +(?:- )?{re.escape(start)}(.*)$", job_text(job), re.MULTILINE)
    assert len(found) == 1
    return str(found[0])


def fill_in(text: str, entry: object) -> str:
    """Replace the expressions of a job's matrix by the values of one entry."""
    values = tables.write(entry)
    return re.sub(r"\$\{\{ matrix\.(\w+) \}\}", lambda match: str(values[match[1]]), text)


def build_commands(jobs: Jobs) -> Iterator[tuple[str, list[str]]]:
    """Yield the session of each build, and the arguments that it gets."""
    for entry in jobs.wheels:
        session, _, rest = fill_in(line_with("run: ./noxw -s build_", "wheels"), entry).partition(" -- ")
        yield session, shlex.split(rest)


def test_each_job_uses_every_key_of_its_entries_and_no_other(jobs: Jobs) -> None:
    """The server takes a name that is not there for an empty text."""
    for name in ("wheels", "releases", "native", "accelerators"):
        assert f"include: ${{{{ fromJSON(needs.matrix.outputs.jobs).{name} }}}}" in job_text(name)
        used = set(re.findall(r"\bmatrix\.(\w+)", job_text(name).replace("needs.matrix.outputs", "")))
        entries = tables.write(jobs)[name]
        assert entries
        assert [set(entry) for entry in entries] == [used] * len(entries)


def test_a_list_of_jobs_that_may_be_empty_is_guarded() -> None:
    """The server refuses an empty matrix; `matrix` itself refuses an empty list of wheels, and so of releases."""
    for name in ("native", "accelerators"):
        assert line_with("if: ", name).startswith(f"toJSON(fromJSON(needs.matrix.outputs.jobs).{name}) != '[]'")
        assert name not in line_with("needs: ", "index")


def test_each_build_is_one_that_can_be_run(jobs: Jobs) -> None:
    """The arguments are those of the command, and the release has all inputs."""
    parser = argparse.ArgumentParser()
    build.configure_parser(parser)
    asked = []
    for session, options in build_commands(jobs):
        args = parser.parse_args(["--bindings-only", *options] if session == "jaxlib" else [session, *options])
        backend = None if session == "jaxlib" else BACKENDS[session]
        check_inputs(load_release(ROOT, args.release), backend, find_platform(args.platform), "prebuilt", REFERENCE)
        asked.append((args.release, session, args.platform))
    assert asked == [(entry.release, entry.backend, entry.platform) for entry in jobs.wheels]


def test_artifacts_are_found_by_the_jobs_that_need_them(jobs: Jobs) -> None:
    """Each has a name of its own; the tests take those of their release, the other systems their own."""
    uploaded = {fill_in(line_with("name: ", "wheels"), entry): entry for entry in jobs.wheels}
    assert len(uploaded) == len(jobs.wheels)
    for whole in jobs.releases:
        taken = [entry for name, entry in uploaded.items() if fnmatch(name, whole.artifacts)]
        assert taken == [entry for entry in jobs.wheels if entry.release == whole.release]
    for native in jobs.native:
        entry = uploaded[fill_in(line_with("name: ", "native"), native)]
        assert (entry.release, entry.backend, entry.platform) == (native.release, "jaxlib", native.platform)


def test_the_selector_that_is_published_is_tested() -> None:
    """Between the step that builds it and the one that uploads it, which is not reached if the test fails."""
    steps = [
        "noxw select\n      - run: ./noxw index",
        "tests -- tests/integration/test_select_wheel.py",
        "path: dist/jaxlib_select-*.whl",
    ]
    assert [job_text("index").count(step) for step in steps] == [1, 1, 1]
    assert sorted(steps, key=job_text("index").index) == steps
    assert line_with("PJRTWHEEL_DIST: ", "index") == line_with("PJRTWHEEL_DIST: ", "releases")


def test_pythons_are_those_of_the_releases() -> None:
    """None is typed but the one that must be refused, and early versions do for those that are not out yet."""
    assert set(re.findall(r"\b3\.\d+t?\b", "".join(WORKFLOWS.values()))) == {"3.13t"}
    for text in WORKFLOWS.values():
        assert text.count("actions/setup-python@") == text.count("allow-prereleases: true")


def run_step(workflow: str, start: str, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the script of the step that begins so, in a folder, as the server does."""
    found = re.search(rf"- {re.escape(start)}.*\n((?: {{10}}.*\n)+)", WORKFLOWS[workflow])
    assert found
    command = ["bash", "-e", "-c", textwrap.dedent(found[1])]
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), **environ}
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)


def git(folder: Path, *arguments: str) -> None:
    """Run git in a folder."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def test_only_a_commit_of_main_is_published(tmp_path: Path) -> None:
    """A tag can be on any commit; one of a branch has been reviewed by nobody."""
    upstream, clone = tmp_path / "upstream", tmp_path / "clone"
    upstream.mkdir()
    git(upstream, "init")
    git(upstream, "commit", "--allow-empty", "--message=1")
    git(upstream, "tag", "--annotate", "--message=1", "v1")
    git(upstream, "commit", "--allow-empty", "--message=2")
    git(upstream, "checkout", "-b", "other")
    git(upstream, "commit", "--allow-empty", "--message=3")
    git(upstream, "tag", "v3")
    git(tmp_path, "clone", str(upstream), str(clone))
    statuses = {}
    for tag in ("v1", "v3"):
        git(clone, "checkout", tag)
        statuses[tag] = run_step("release", "run: | # what is published has been", clone).returncode
    assert statuses == {"v1": 0, "v3": 1}


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
    checked = (upstream / ".git/refs/heads/main").read_text().strip()

    def look() -> tuple[int, str]:
        start = "run: | # somebody may have moved the tag"
        done = run_step("release", start, clone, TAG="v1", GITHUB_SHA=checked)
        return done.returncode, done.stdout

    assert look() == (0, "")
    git(upstream, "commit", "--allow-empty", "--message=2")
    git(upstream, "tag", "--force", *options, "v1")
    moved = (upstream / ".git/refs/heads/main").read_text().strip()
    assert look() == (1, f"::error::the tag v1 is at {moved} now; what was checked is of {checked}\n")
    git(upstream, "tag", "zz/refs/tags/v1", checked)  # which ls-remote lists as well
    assert look() == (1, f"::error::the tag v1 is at {moved} now; what was checked is of {checked}\n")
    git(upstream, "tag", "--delete", "v1")
    assert look() == (1, f"::error::the tag v1 is at no commit now; what was checked is of {checked}\n")


def test_only_a_commit_of_main_is_built_again(tmp_path: Path) -> None:
    """The tooling of that commit is run; what the release says of it is read from what `verify_release` prints."""
    git(tmp_path, "init")
    for branch in ("main", "other"):
        git(tmp_path, "checkout", "-B", branch)
        git(tmp_path, "commit", "--allow-empty", f"--message={branch}")
    git(tmp_path, "update-ref", "refs/remotes/origin/main", "main")
    commits = {name: (tmp_path / f".git/refs/heads/{name}").read_text().strip() for name in ("main", "other")}
    said = {name: f"echo 'v1: 2 wheels'; echo '{BUILT_FROM}{commit}'\n" for name, commit in commits.items()}
    statuses = {}
    for name, script in {**said, "nothing": "", "a failure": f"{said['main']}exit 12\n"}.items():
        write_files(tmp_path, {"noxw": f"#!/bin/sh\n{script}"})
        (tmp_path / "noxw").chmod(0o755)
        statuses[name] = run_step(
            "reproduce", "run: | # it is whole", tmp_path, TAG="v1", SHELLOPTS="pipefail"
        ).returncode
    assert statuses == {"main": 0, "other": 1, "nothing": 1, "a failure": 12}


PATCHES = {
    "allowed": ({"docs/a.md": "b\n", "releases/1.toml": "new\n"}, 0),
    "another file": ({"docs/a.md": "b\n", "ci/x.py": "new\n"}, 1),
    "another name at the beginning": ({"docs2/a": "b\n"}, 1),
    "code of the selector": ({"selector/jaxlib_select/x.py": "new\n"}, 1),
    "a file that moves into a folder": ({"build/x.py": "", "docs/x.py": "code\n" * 9}, 1),
}


@pytest.mark.parametrize(("files", "status"), PATCHES.values(), ids=PATCHES)
def test_a_pull_request_changes_what_a_new_release_changes(files: dict[str, str], status: int, tmp_path: Path) -> None:
    """The job that writes it trusts nothing of what the one before says, which ran what it had downloaded."""
    (written,) = re.findall(r"^  WRITTEN: (.*?) #", WORKFLOWS["bump"], re.MULTILINE)
    write_files(tmp_path, {"docs/a.md": "a\n", "build/x.py": "code\n" * 9})
    git(tmp_path, "init")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--message=1")
    write_files(tmp_path, {name: text for name, text in files.items() if text})
    for name in (name for name, text in files.items() if not text):
        (tmp_path / name).unlink()
    git(tmp_path, "add", "--all")
    command = ["git", "diff", "--cached", "--binary"]
    patch = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    git(tmp_path, "reset", "--hard")
    write_files(tmp_path, {"bump/bump.patch": patch})
    done = run_step("bump", "run: | # whatever the patch says", tmp_path, WRITTEN=written)
    assert (done.returncode, done.stdout.startswith("::error::")) == (status, bool(status)), done.stderr


def test_what_is_downloaded_writes_no_cache_and_a_release_reads_none() -> None:
    """Each step that has a cache says so."""
    assert re.findall(r"bazelisk-cache: (.*)", WORKFLOWS["bump"]) == [
        "true, cache-save: false } # the cache of main is not written by what is downloaded here"
    ]
    caches = re.findall(r"bazelisk-cache: (.*)", WORKFLOWS["ci"])
    assert caches == ["${{ github.ref_type != 'tag' }}"] * WORKFLOWS["ci"].count("setup-bazel@")


def test_the_artifacts_that_a_tag_names_are_uploaded(jobs: Jobs) -> None:
    """The wheels of a release, and the selector's."""
    uploaded = {fill_in(line_with("name: ", "releases"), entry) for entry in jobs.releases}
    assert uploaded == {TaggedRelease(entry.release).artifact for entry in jobs.releases}
    assert f"name: {TaggedRelease('').artifact}\n" in job_text("index")
