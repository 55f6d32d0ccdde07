# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Real wheels as a release: attested, verified, and built again to the same bytes."""

import os
import subprocess
from pathlib import Path

import pytest

from pjrtwheel.attest.make import make_release
from pjrtwheel.attest.release_folder import ReleaseFolder
from pjrtwheel.attest.reproduce import reproduce
from pjrtwheel.attest.signature import load_public_key, load_signer
from pjrtwheel.attest.verify import verify_release
from pjrtwheel.dist_folder.folder import read_folder
from pjrtwheel.release.model import Release
from pjrtwheel.sets.tags import tag_of
from signing_keys import make_key

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def attested(
    root: Path, release: Release, built_wheels: Path, tmp_path_factory: pytest.TempPathFactory
) -> ReleaseFolder:
    """Return the release of the wheels for the CPU, signed."""
    folder = tmp_path_factory.mktemp("attested")
    make_key(folder / "key")
    tag, signer = tag_of(release), load_signer(folder / "key")
    return make_release(root, tag, built_wheels, folder / tag, signer=signer)


def test_real_wheels_are_a_sound_release(attested: ReleaseFolder, built_wheels: Path, release: Release) -> None:
    """All of them are in it, and sha256sum and our own checks agree."""
    wheels = {name for name, entry in read_folder(built_wheels).items() if entry.version == release.set_version}
    assert set(attested.wheels) == wheels
    statement = verify_release(attested, key=load_public_key(attested.path.parent / "key.pub"), tag=tag_of(release))
    levels = {build.level for build in statement.parameters.builds if build.platform != "any"}
    assert levels == {6}
    command = ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"]
    assert subprocess.run(command, cwd=attested.path, capture_output=True, check=True).stdout == b""


@pytest.mark.slow
def test_a_real_wheel_is_built_again_to_the_same_bytes(
    attested: ReleaseFolder, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clone at the recorded commit, its own tooling, the recorded options: and the very same file."""
    statement = attested.statement
    if statement.dirty or "commit" not in _kind(root, statement.commit):
        pytest.skip("the wheels were built from changes that are in no commit of this clone")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")  # of this process: it must not reach the build
    ((name, differences),) = reproduce(attested, root, tmp_path, ["jaxlib_cpu-*"]).items()
    assert (name.startswith("jaxlib_cpu-"), differences) == (True, ())


def _kind(root: Path, commit: str) -> str:
    command = ["git", "-C", str(root), "cat-file", "-t", commit]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ)).stdout
