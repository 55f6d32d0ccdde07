# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""An index on loopback, a stand-in for GitHub's program `gh`, and the command that publishes to them."""

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from gh_program import TOKEN, StandIn, answer, make_stand_in
from package_index import make_index, put_wheel
from pjrtwheel import cli
from pjrtwheel.attest.release_folder import ReleaseFolder
from pjrtwheel.publish import github as github_module
from pjrtwheel.publish import publication
from release_folders import write_pure_release, write_release_folder
from upload_server import PASSWORD, USERNAME, UploadServer, run_server


@dataclass(frozen=True, slots=True)
class Printed:
    """How a command ended: its exit status, and what it printed."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """The lines of the error."""
        return self.err.removeprefix("error: ").splitlines()


@pytest.fixture
def server() -> Iterator[UploadServer]:
    """Return an empty index."""
    with run_server() as state:
        yield state


@pytest.fixture
def stage_server() -> Iterator[UploadServer]:
    """Return another empty index, for what is staged."""
    with run_server() as state:
        yield state


@pytest.fixture
def github_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """Return a repository without releases, which `gh` on the PATH serves."""
    stand_in = make_stand_in(tmp_path / "github")
    monkeypatch.setenv("PATH", f"{stand_in.store / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("GITHUB_SERVER_URL", raising=False)
    for name, value in stand_in.environ.items():
        monkeypatch.setenv(name, value)
    return stand_in


@pytest.fixture
def github(github_program: StandIn, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """Return the same without a process for each call, which takes long."""

    def run(command: list[str], *, cwd: Path | None, **_: object) -> subprocess.CompletedProcess[str]:
        status, said = answer(command[1:], github_program, cwd or Path())
        return subprocess.CompletedProcess(command, status, said, said)

    monkeypatch.setattr(github_module, "subprocess", SimpleNamespace(run=run))
    return github_program


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a release with two Pythons and two plugins."""
    return write_release_folder(tmp_path / "release").path


@pytest.fixture
def release(tmp_path: Path) -> ReleaseFolder:
    """Return a small release of pure wheels."""
    return write_pure_release(tmp_path / "v1.2.3+split.1")


@pytest.fixture
def command(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Printed]:
    """Return a function that runs a command of the tooling, with twine's credentials and without long waits."""
    for name in [name for name in os.environ if name.startswith(("TWINE_", "PJRTWHEEL_"))]:
        monkeypatch.delenv(name)
    put_wheel(make_index(tmp_path / "index", monkeypatch), "jax-1.2.3-py3-none-any.whl")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))  # no .pypirc, no .netrc
    monkeypatch.setenv("PJRTWHEEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TWINE_USERNAME", USERNAME)
    monkeypatch.setenv("TWINE_PASSWORD", PASSWORD)
    monkeypatch.setattr(publication, "LISTING_WAITS_S", (0.0, 0.0))

    def execute(*arguments: object) -> Printed:
        name, *rest = map(str, arguments)
        status = cli.main([name, *rest, "--root", str(root)])
        printed = capsys.readouterr()
        for text in printed:
            assert PASSWORD not in text
            assert TOKEN not in text
        return Printed(status, printed.out, printed.err)

    return execute


@pytest.fixture
def publish(command: Callable[..., Printed], server: UploadServer) -> Callable[..., Printed]:
    """Return a function: a folder and options → how publishing it to `company`, which is `server`, ended."""

    def execute(folder: Path, *options: object) -> Printed:
        addresses = ("--upload-url", f"{server.url}upload/", "--index-url", f"{server.url}simple/")
        return command("publish", "company", folder, *addresses, *options)

    return execute
