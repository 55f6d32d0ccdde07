# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Real wheels as a release: attested, verified, and built again to the same bytes."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pjrtwheel.attest.make import make_release
from pjrtwheel.attest.release_folder import ReleaseFolder
from pjrtwheel.attest.reproduce import reproduce
from pjrtwheel.attest.signature import load_public_key, load_signer
from pjrtwheel.attest.verify import verify_release
from pjrtwheel.dist_folder.folder import read_folder
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.venv import create_venv, find_uv
from pjrtwheel.files import hash_file
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


def test_the_lock_of_a_release_installs_what_was_verified(
    attested: ReleaseFolder, interpreter: Interpreter, tmp_path: Path
) -> None:
    """With the index that there is for all else; a wheel with other bytes is refused."""
    folder = tmp_path / "copy"
    shutil.copytree(attested.path, folder)
    lock = folder / "pylock.cpu.toml"
    assert attested.digests[lock.name] == hash_file(lock)
    create_venv(interpreter, tmp_path / "venv")
    command = [str(find_uv()), "pip", "sync", "--no-config", "--python", str(tmp_path / "venv"), str(lock)]
    subprocess.run(command, capture_output=True, check=True)
    code = "import jax, jaxlib.version as v; print(jax.devices()[0].platform, v.__version__)"
    done = subprocess.run([tmp_path / "venv/bin/python", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["cpu", attested.statement.parameters.version.partition("+")[0]]
    wheel = next(folder.glob("jaxlib_cpu-*.whl"))
    wheel.write_bytes(wheel.read_bytes() + b"\0")
    other = subprocess.run([*command, "--reinstall", "--no-cache"], capture_output=True, text=True, check=False)
    assert (other.returncode, "jaxlib-cpu" in other.stderr, "sha256" in other.stderr) == (1, True, True)


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
