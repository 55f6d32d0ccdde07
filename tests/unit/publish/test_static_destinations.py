# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The commands `publish` and `pages` with a folder and a stand-in for GitHub, interrupted and resumed."""

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gh_program import StandIn
from pjrtwheel.attest.release_folder import ReleaseFolder
from pjrtwheel.files import hash_file
from pjrtwheel.publish.destinations import find_destination
from pjrtwheel.publish.github import GithubRelease
from pjrtwheel.publish.places import open_place
from pjrtwheel.publish.static_folder import StaticFolder
from release_folders import read_page, stopping
from small_wheels import build_wheel, describe_wheel

TAG = "v1.2.3+split.1"
Command = Callable[..., Any]
SITE: dict[str, tuple[str, Any]] = {"folder": ("--site", StaticFolder), "github": ("--pages", GithubRelease)}


@pytest.fixture(params=["folder", "github"])
def destination(request: pytest.FixtureRequest, github: StandIn) -> str:  # noqa: ARG001
    """Return the name of a destination with a static index."""
    return str(request.param)


@pytest.mark.parametrize("name", ["notes.txt", "jaxlib_other-1.2.3+split.1-py3-none-any.whl"])
def test_a_foreign_file_among_those_that_wait_is_refused(
    command: Command,
    destination: str,
    release: ReleaseFolder,
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    """It would become public with the release, under no checksum; it is named, and nothing is sent."""
    option, kind = SITE[destination]
    arguments = ("publish", destination, str(release.path), option, str(tmp_path / "site"))
    with monkeypatch.context() as patch:
        patch.setattr(kind, "upload", stopping(kind.upload, after=1))
        assert command(*arguments).status == 130
    (build_wheel(tmp_path, {**describe_wheel(name)}, name=name) if name.endswith(".whl") else tmp_path / name).touch()
    site = argparse.Namespace(root=root, site=str(tmp_path / "site"))
    place = open_place(find_destination(root, destination), site, os.environ, TAG)
    place.upload(tmp_path / name, hash_file(tmp_path / name))
    printed = command(*arguments)
    assert (printed.status, name in printed.lines[1]) == (11, True)
    assert not (tmp_path / "site" / "simple").exists()


def test_a_release_is_withdrawn(
    command: Command, destination: str, release: ReleaseFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry in the file, and `pages` writes the index that says why; until then there is nothing more to send."""
    option, _ = SITE[destination]
    site = tmp_path / "site"
    decisions = site / "yanked.toml"
    monkeypatch.setattr("pjrtwheel.publish.places.YANKED_FILE", decisions)  # of GitHub Releases
    assert command("publish", destination, str(release.path), option, str(site)).status == 0
    assert [entry["yanked"] for entry in read_page(site, "jaxlib")] == [False]
    again = command("publish", destination, str(release.path), option, str(site))
    assert (again.status, again.err, "; nothing to send" in again.out) == (0, "", True)
    decisions.write_text(f'[[yanked]]\ntag = "{TAG}"\nreason = "loses digits"\ndate = "2026-11-22"\n', "utf-8")
    done = command("pages", destination, option, str(site))
    assert (done.status, done.err) == (0, "")
    assert [entry["yanked"] for entry in read_page(site, "jaxlib")] == ["loses digits"]
    again = command("publish", destination, str(release.path), option, str(site))
    assert (again.status, "loses digits" in again.lines[1]) == (11, True)
