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

from pjrtwheel import tables
from pjrtwheel.backend import load_backends
from pjrtwheel.cli import build
from pjrtwheel.platforms import find_platform
from pjrtwheel.release.checks import check_inputs
from pjrtwheel.release.known import list_releases, load_release
from pjrtwheel.workflows.jobs import REFERENCE, Jobs, list_jobs

ROOT = Path(__file__).resolve().parents[3]
WORKFLOWS = {path.stem: path.read_text("utf-8") for path in (ROOT / ".github/workflows").glob("*.yml")}
BACKENDS = load_backends(ROOT)


@pytest.fixture(scope="module")
def jobs() -> Jobs:
    """Return the jobs for all releases."""
    releases = [load_release(ROOT, version) for version in list_releases(ROOT)]
    return list_jobs(releases, tuple(BACKENDS.values()))


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
    for name in ("wheels", "releases", "native"):
        assert f"include: ${{{{ fromJSON(needs.matrix.outputs.jobs).{name} }}}}" in job_text(name)
        used = set(re.findall(r"\bmatrix\.(\w+)", job_text(name).replace("needs.matrix.outputs", "")))
        entries = tables.write(jobs)[name]
        assert entries
        assert [set(entry) for entry in entries] == [used] * len(entries)


def test_a_list_of_jobs_that_may_be_empty_is_guarded() -> None:
    """The server refuses an empty matrix; `matrix` itself refuses an empty list of wheels, and so of releases."""
    assert line_with("if: ", "native").startswith("fromJSON(needs.matrix.outputs.jobs).native[0] != null")
    assert "native" not in line_with("needs: ", "index")


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
    assert fill_in(line_with("name: ", "releases"), jobs.releases[0]) == f"release-{jobs.releases[0].release}"
    assert "artifact=release-$release" in WORKFLOWS["release"]


def test_pythons_are_those_of_the_releases() -> None:
    """None is typed but the one that must be refused, and early versions do for those that are not out yet."""
    assert set(re.findall(r"\b3\.\d+t?\b", "".join(WORKFLOWS.values()))) == {"3.13t"}
    for text in WORKFLOWS.values():
        assert text.count("actions/setup-python@") == text.count("allow-prereleases: true")


@pytest.mark.parametrize(
    ("tag", "output"),
    [
        ("v1.2.3", "release=1.2.3 artifact=release-1.2.3"),
        ("v1.2.3+2", "release=1.2.3 artifact=release-1.2.3"),
        ("select-v0.1.0", "release= artifact=select"),
        ("v1.3", None),
    ],
)
def test_a_tag_chooses_what_is_built_and_published(tag: str, output: str | None, tmp_path: Path) -> None:
    """Wheels with a label are refused before anything is built: the public index would not take them."""
    found = re.search(r"- id: read\n +run: \|\n((?: {10}.*\n)+)", WORKFLOWS["release"])
    assert found
    (tmp_path / "releases").mkdir()
    (tmp_path / "releases/1.2.3.toml").write_text('label = ""\n', "utf-8")
    (tmp_path / "releases/1.3.toml").write_text('label = "split"\n', "utf-8")
    environ = {"PATH": os.environ["PATH"], "GITHUB_REF_NAME": tag, "GITHUB_OUTPUT": str(tmp_path / "output")}
    command = ["bash", "-e", "-c", textwrap.dedent(found[1])]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.startswith("::error::")) == ((0, False) if output else (1, True))
    written = (tmp_path / "output").read_text("utf-8").split() if output else []
    assert " ".join(written) == (output or "")
