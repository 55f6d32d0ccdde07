# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run `release.yml` on this machine with act, in a small copy of the repository; tests/workflows/README.md says how."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from gh_program import TOKEN, StandIn, make_stand_in
from git_repository import git
from pjrtwheel.bazel.workspace import ask_servers_to_end
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.release.known import load_release
from pjrtwheel.sets.tags import project_version
from release_under_test import ROOT, release_under_test
from small_copy import copy_small
from workflow_reruns import Outputs, keep_jobs, read_failures, read_log, read_outputs

WORKFLOW = ".github/workflows/release.yml"
STAND_INS = ROOT / "tests/workflows/actions"
RUNNERS = ("ubuntu-24.04", "ubuntu-24.04-arm", "accelerator")
SHARED = ("noxw", "verified", "wheelhouses", "wheels")  # parts of the cache that hold anything by its hash


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of the workflow did.

    Attributes:
        tag: The tag.
        commit: Where it was.
        variables: Settings of the repository.
        jobs: Job → its result, of those that ran; `wheels` has the worst of its matrix.
        outputs: Outputs of its steps.
        log: All that was printed.
        store: The folder of the stand-ins.
        published: Paths of the files at the destination, relative to it.
    """

    tag: str
    commit: str
    variables: Mapping[str, str]
    jobs: Mapping[str, str]
    outputs: Outputs
    log: str
    store: Path
    published: frozenset[str]

    @property
    def artifacts(self) -> frozenset[str]:
        """Names of what was uploaded."""
        return frozenset(path.name for path in (self.store / "artifacts").iterdir())

    def copy(self, folder: Path) -> Run:
        """Return the run with a copy of its artifacts, which may be changed."""
        shutil.copytree(self.store / "artifacts", folder / "artifacts")
        return replace(self, store=folder)

    def said(self, job: str) -> str:
        """Return what a job printed."""
        return "\n".join(entry.get("msg", "") for entry in read_log(self.log) if entry.get("jobID") == job)

    @property
    def failures(self) -> str:
        """The last words of each step that failed, for messages of tests."""
        return read_failures(self.log) or self.log[-2000:]

    @property
    def attested(self) -> str:
        """The checksums that would have been signed."""
        path = self.store / "attested"
        return path.read_text("utf-8") if path.is_file() else ""


def find_act() -> Path | None:
    """Return act, which the environment of the tests has next to its Python."""
    found = shutil.which("act", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    return Path(found) if found else None


@dataclass(frozen=True, slots=True)
class SmallRepository:
    """A copy of this repository with little to build, and a place for all that its workflows write.

    Attributes:
        folder: Where all is.
        cache: The cache of the tooling, a part of which is that of this machine.
        version: The JAX release.
        tag: Its tag.
    """

    folder: Path
    cache: Path
    version: str
    tag: str

    @property
    def upstream(self) -> Path:
        """The repository, as it would be on the server."""
        return self.folder / "upstream"

    @property
    def destination(self) -> Path:
        """The folder that releases are published to."""
        return self.folder / "destination"

    @property
    def selector_tag(self) -> str:
        """The tag of the selector that is in the repository."""
        return f"select-v{project_version(self.upstream, 'select')}"

    def pin(self, key: str) -> str:
        """Return the digest that the release file has for an input."""
        return load_release(self.upstream, self.version).pin(key).sha256

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a text that is in a file once, and commit that."""
        path = self.upstream / name
        text = path.read_text("utf-8")
        assert text.count(old) == 1, (name, old)
        path.write_text(text.replace(old, new), "utf-8")
        self.git("commit", "--quiet", "--all", f"--message=Change {name}")

    def reset(self) -> None:
        """Forget all commits but the first, and what was published."""
        self.git("checkout", "--quiet", "--force", "-B", "main", "small")
        shutil.rmtree(self.destination, ignore_errors=True)

    def git(self, *arguments: str) -> str:
        """Run git in the repository."""
        return git(self.upstream, *arguments)

    def release(self, tag: str, *, variables: Mapping[str, str] | None = None, **faults: str) -> Run:
        """Push a tag of the current commit, and run the release workflow; `faults` are those of the stand-ins."""
        self.git("tag", "--force", tag)
        store = self._make_store(tag)
        (store / "artifacts").mkdir()
        return self._run(store, tag, variables or {}, faults)

    def rerun(self, run: Run, first: str, *, github: StandIn | None = None, moved_to: str = "", **faults: str) -> Run:
        """Run a job of an earlier run again, and those that need it; the others keep what they did.

        With `moved_to` the tag is put at another commit once the run has begun.
        """
        self.git("tag", "--force", run.tag, run.commit)
        store = self._make_store(run.tag)
        if moved_to:
            self.git("tag", "--force", "--annotate", "--message=Moved", run.tag, moved_to)
        text, made_again = keep_jobs(store / "clone", WORKFLOW, run.jobs, run.outputs, first)
        (store / "clone" / WORKFLOW).write_text(text, "utf-8")
        shutil.copytree(run.store / "artifacts", store / "artifacts", ignore=shutil.ignore_patterns(*made_again))
        done = self._run(store, run.tag, run.variables, faults, github)
        return replace(done, outputs={**run.outputs, **done.outputs})

    def _make_store(self, tag: str) -> Path:
        """Make a folder for the stand-ins, with a clone: act copies it into each job's workspace.

        There is nothing but workflows in it, until a job checks something out.
        """
        store = Path(tempfile.mkdtemp(prefix="store-", dir=self.folder))
        clone = store / "clone"
        git(self.folder, "clone", "--quiet", "--no-checkout", str(self.upstream), str(clone))
        git(clone, "sparse-checkout", "set", "--no-cone", ".github/workflows/")
        git(clone, "checkout", "--quiet", "--detach", tag)
        return store

    def _run(
        self,
        store: Path,
        tag: str,
        variables: Mapping[str, str],
        faults: Mapping[str, str],
        github: StandIn | None = None,
    ) -> Run:
        # A server's machines are new to each job: proofs that an earlier run left here would have its commit and date.
        shutil.rmtree(self.cache / "proofs", ignore_errors=True)
        event = store / "event.json"
        event.write_text(json.dumps({"ref": f"refs/tags/{tag}", "repository": {"default_branch": "main"}}), "utf-8")
        settings = {"PJRTWHEEL_DESTINATION": "folder", "PJRTWHEEL_FOLDER_SITE": str(self.destination)}
        command = [*self._act(store), "push", "--workflows", WORKFLOW, "--eventpath", str(event)]
        environ = {"STAND_IN_UPSTREAM": str(self.upstream), "STAND_IN_STORE": str(store)}
        environ |= {"PJRTWHEEL_CACHE": str(self.cache)} | {f"STAND_IN_{name.upper()}": faults[name] for name in faults}
        github = github or make_stand_in(store / "github")
        environ |= github.environ
        (self.folder / "tools/gh").unlink(missing_ok=True)
        (self.folder / "tools/gh").symlink_to(github.store / "bin/gh")
        command.append(f"--secret=GITHUB_TOKEN={TOKEN}")
        for option, table in (("--var", {**settings, **variables}), ("--env", environ)):
            command += [word for name, value in table.items() for word in (option, f"{name}={value}")]
        own = _environ(self.folder / "tools")
        done = subprocess.run(command, cwd=store / "clone", env=own, capture_output=True, text=True, check=False)
        log = done.stdout + done.stderr
        (store / "log").write_text(log, "utf-8")
        published = frozenset(_list_files(self.destination))
        commit = git(store / "clone", "rev-parse", "HEAD").strip()
        return Run(tag, commit, variables, _read_results(log), read_outputs(log), log, store, published)

    def _act(self, store: Path) -> list[str]:
        command = [
            str(find_act()),
            "--json",
            "--no-cache-server",
            "--no-skip-checkout",
            "--pull=false",
            "--concurrent-jobs=2",
        ]
        command += ["--action-cache-path", str(store / "act")]
        for runner in RUNNERS:
            command += ["--platform", f"{runner}=-self-hosted"]
        for action, revision in _list_actions():
            command += ["--local-repository", f"{action}@{revision}={STAND_INS / action.partition('/')[2]}"]
        return command


@contextmanager
def small_repository(folder: Path) -> Iterator[SmallRepository]:
    """Make the repository in an empty folder (`copy_small`); afterwards, end the servers that its jobs started."""
    release = release_under_test()
    shared = cache_root(os.environ)
    shared.mkdir(parents=True, exist_ok=True)
    cache = Path(tempfile.mkdtemp(prefix="workflows-", dir=shared))  # on its disk: files are moved between the two
    for name in SHARED:
        (shared / name).mkdir(exist_ok=True)
        (cache / name).symlink_to(shared / name)
    repository = SmallRepository(folder, cache, release.version, f"v{release.set_version}")
    repository.upstream.mkdir()
    copy_small(repository.upstream, release.version)
    with (repository.upstream / "CHANGELOG.md").open("a", encoding="utf-8") as changelog:
        changelog.write(f"\n## {repository.tag} and {repository.selector_tag}\n\n- A small release.\n")
    (folder / "tools").mkdir()
    if uv := shutil.which("uv", path=f"{sys.prefix}/bin"):  # makes the sessions' environments in seconds
        (folder / "tools/uv").symlink_to(uv)
    repository.git("init", "--quiet")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--message=A small release")
    repository.git("tag", "small")
    try:
        yield repository
    finally:
        for outputs in cache.glob("bazel/*"):
            ask_servers_to_end(outputs)
        subprocess.run(["chmod", "--recursive", "u+w", str(cache)], check=False)  # Bazel protects its outputs
        shutil.rmtree(cache, ignore_errors=True)


def _read_workflows() -> str:
    """Return the text of the release and of what it calls."""
    return "".join((ROOT / f".github/workflows/{name}.yml").read_text("utf-8") for name in ("ci", "pages", "release"))


def _list_actions() -> list[tuple[str, str]]:
    """Return repository and revision of each action that they use."""
    return sorted(set(re.findall(r"uses: ([\w-]+/[\w-]+)[\w/-]*@([0-9a-f]{40})", _read_workflows())))


def _read_results(log: str) -> dict[str, str]:
    """Return the result of each job from act's log; of a matrix that of a job that failed."""
    results: dict[str, str] = {}
    for entry in read_log(log):
        if "jobResult" in entry and results.get(entry["jobID"]) != "failure":
            results[entry["jobID"]] = entry["jobResult"]
    return results


def _environ(tools: Path) -> dict[str, str]:
    """Return the environment with a folder of programs, without what is the tests' own: their Python and settings."""
    own = ("COVERAGE", "GITHUB_", "NOX", "PJRTWHEEL_", "PYTEST", "PYTHON", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    folders = [folder for folder in kept.get("PATH", os.defpath).split(os.pathsep) if folder != f"{sys.prefix}/bin"]
    return {**kept, "PATH": os.pathsep.join([str(tools), *folders])}


def _list_files(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield str(path.relative_to(folder))
