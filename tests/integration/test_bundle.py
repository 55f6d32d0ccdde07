# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A bundle of the CPU on a machine without a network: a namespace with a loopback device, an empty home, no cache."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from console_blocks import alike, shown
from pjrtwheel.dist_folder.folder import read_folder
from pjrtwheel.errors import FetchError
from pjrtwheel.files import hash_file
from pjrtwheel.record.proofs import Level
from pjrtwheel.release.model import Release
from programs import run_tooling

pytestmark = [pytest.mark.integration, pytest.mark.slow]

NAMESPACE = ("unshare", "--net", *(() if os.geteuid() == 0 else ("--map-root-user",)))
# Bazel's client and server speak over loopback.
ALONE = (*NAMESPACE, "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
Run = Callable[..., subprocess.CompletedProcess[str]]


def git(*arguments: str | Path, text: str | None = None) -> str:
    """Run git as somebody."""
    who = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    return subprocess.run(["git", *who, *arguments], input=text, check=True, capture_output=True, text=True).stdout


def digests(folder: Path) -> dict[str, str]:
    """Return name → sha256 of the wheels in a folder."""
    return {path.name: hash_file(path) for path in folder.glob("*.whl")}


@pytest.fixture(scope="module")
def bundle(root: Path, release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a bundle of this checkout, with the changes in it that are not committed."""
    if subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no namespace without a network can be made here")
    clone, folder = tmp_path_factory.mktemp("bundle") / "clone", tmp_path_factory.mktemp("bundle") / "a bundle"
    git("clone", "--quiet", "--shared", root, clone)
    if changes := git("-C", root, "diff", "--binary", "HEAD"):
        git("-C", clone, "apply", "--index", text=changes)
        git("-C", clone, "commit", "--quiet", "--message=Changes")
    made = run_tooling(clone, "bundle", "--root", clone, "--release", release.version, "--backend", "cpu", folder)
    assert made.returncode == 0, made.stderr
    page = shown(root / "docs/release/offline-bundle.md", "./noxw bundle --backend cpu")
    assert alike(page.replace("/media/disk/bundle", str(folder)), made.stdout.strip()), made.stdout
    return folder


@pytest.fixture
def alone(bundle: Path, tmp_path: Path) -> Iterator[Run]:
    """Return a function that runs a command in a clone out of the bundle, on a machine with nothing else."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {name: os.environ[name] for name in ("PATH", "PYENV_ROOT", "TMPDIR") if name in os.environ}
    environ = {**kept, "HOME": str(home), "PJRTWHEEL_BUNDLE": str(bundle), "PJRTWHEEL_PYTHON": sys.executable}
    clone = tmp_path / "clone"
    git("clone", "--quiet", bundle / "repository.bundle", clone)

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*ALONE, *command], cwd=clone, env=environ, capture_output=True, text=True, check=False)

    yield run
    run(sys.executable, "noxw", "-s", "shutdown")
    shutil.rmtree(tmp_path, ignore_errors=True)  # gigabytes


def test_wheels_without_a_network_are_the_same(alone: Run, built_wheels: Path, tmp_path: Path) -> None:
    """From the clone to the wheels and their proofs, with noxw's and Bazel's tools; then the index of them."""
    for session in ("build_cpu", "index"):
        ended = alone(sys.executable, "noxw", "-s", session, "--", "--dist", str(tmp_path / "dist"))
        assert ended.returncode == 0, ended.stderr[-4000:]
    assert digests(tmp_path / "dist") == digests(built_wheels)
    levels = {proof.level for entry in read_folder(tmp_path / "dist").values() for proof in entry.proofs()}
    assert Level.DEVICE in levels
    assert (tmp_path / "dist/simple/jaxlib-cpu/index.html").is_file()


def test_what_is_missing_is_named(alone: Run, bundle: Path, tmp_path: Path) -> None:
    """Before anything is built for it."""
    ended = alone(sys.executable, "noxw", "-s", "build_cuda13", "--", "--dist", str(tmp_path / "dist"))
    assert ended.returncode == FetchError.exit_code
    assert f"the bundle {bundle} has no " in ended.stdout + ended.stderr
