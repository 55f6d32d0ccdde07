# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The build command as a whole: again, elsewhere, twice at once, without a network; and what it built, installed."""

import hashlib
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bazel_outputs import remove_outputs
from pjrtwheel.backend import find_backend
from pjrtwheel.environment.interpreters import find_interpreters
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.errors import FetchError
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.prove.on_python import run_program
from pjrtwheel.record.proofs import Outcome
from pjrtwheel.release.model import Release
from programs import run_tooling
from release_under_test import release_under_test

pytestmark = pytest.mark.integration

RELEASE = release_under_test()
REAL_CACHE = cache_root(os.environ)


def build(root: Path, dist: Path, *options: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Build the CPU wheels of a checkout."""
    what = ("build", "cpu", "--release", RELEASE.version, "--root", root, "--dist", dist)
    return run_tooling(root, *what, *options, **environ)


def digests(dist: Path) -> dict[str, str]:
    """Return name → sha256 of the wheels in a folder."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in dist.glob("*.whl")}


@pytest.fixture
def offline(tmp_path: Path) -> Mapping[str, str]:
    """Return what has to be added to the environment so that pip finds nothing at all."""
    (tmp_path / "nothing").mkdir()
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path / "nothing"), "PIP_CONFIG_FILE": os.devnull}


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a new cache, which is the one in use; ask for it before `checkout`, whose clean-up looks into it."""
    monkeypatch.setenv("PJRTWHEEL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def full_cache(empty_cache: Path) -> Path:
    """Return a new cache with all downloads of the real one, but none of what Bazel has built."""
    empty_cache.mkdir()
    for name in ("wheels", "wheelhouses"):
        (empty_cache / name).symlink_to(REAL_CACHE / name)
    return empty_cache


@pytest.fixture
def checkout(copy_checkout: Callable[[Path], Path], tmp_path: Path) -> Iterator[Path]:
    """Return a copy of what a build needs, in a path with a space and a letter beyond ASCII."""
    copy = copy_checkout(tmp_path / "ein Dépôt")
    yield copy
    remove_outputs(copy)


def test_nothing_changed_means_nothing_done(checkout: Path, built_wheels: Path, tmp_path: Path) -> None:
    """The second build of a checkout runs no action and gives the same wheels."""
    first = build(checkout, tmp_path / "first")  # not of the one that other tests build from, with other options
    done = build(checkout, tmp_path / "dist")
    assert (first.returncode, done.returncode) == (0, 0), first.stderr + done.stderr
    assert "Bazel ran 0 actions, everything was up to date" in done.stderr.splitlines()
    assert digests(tmp_path / "dist") == digests(built_wheels)


@pytest.mark.slow
def test_two_builds_at_once_both_succeed(root: Path, built_wheels: Path, tmp_path: Path) -> None:
    """Builds of one checkout wait for each other, also where they give other wheels in the same places."""
    levels = ("6", "1")
    with ThreadPoolExecutor() as pool:
        done = list(pool.map(lambda level: build(root, tmp_path / level, "--no-smoke", "--level", level), levels))
    assert [result.returncode for result in done] == [0, 0], [result.stderr for result in done]
    assert digests(tmp_path / "6") == digests(built_wheels)
    assert digests(tmp_path / "1").keys() == digests(built_wheels).keys()
    assert not digests(tmp_path / "1").items() & digests(built_wheels).items()


def count_pythons(release: Release) -> int:
    """Return for how many Pythons of a release this machine has an interpreter, and so a build makes a `jaxlib`."""
    return sum(map(bool, find_interpreters(release.pythons("linux_x86_64")).values()))


def test_another_folder_without_network_gives_the_same_bytes(
    built_wheels: Path, full_cache: Path, checkout: Path, tmp_path: Path, offline: Mapping[str, str], release: Release
) -> None:
    """A full cache is all a build needs; it writes nothing into the checkout, whose path leaves no trace in a wheel.

    Bazel's own log has one compilation for all ABIs and one assembly per wheel, and nothing of XLA was fetched.
    """
    before = sorted(checkout.rglob("*"))
    done = build(checkout, tmp_path / "dist", "--no-smoke", **offline)
    assert done.returncode == 0, done.stderr
    assert digests(tmp_path / "dist") == digests(built_wheels)
    assert sorted(checkout.rglob("*")) == before
    assert f"AssembleWheel {1 + count_pythons(release)}, CompileExtension 1, " in done.stderr
    fetched = {path.name for path in (full_cache / "bazel").glob("*/*/wheels/external/*") if path.is_dir()}
    assert "plugin_cpu_linux_x86_64" in fetched
    assert fetched.isdisjoint({"xla", "xla_license", "rules_ml_toolchain"})


def test_empty_cache_without_network_is_one_clear_error(
    empty_cache: Path, checkout: Path, tmp_path: Path, offline: Mapping[str, str]
) -> None:
    """The message says what is missing and what would help; nothing is left in the cache or the folder of wheels."""
    done = build(checkout, tmp_path / "dist", **offline)
    assert done.returncode == FetchError.exit_code, done.stderr
    assert len(done.stderr[done.stderr.index("error: ") :].splitlines()) <= 3
    assert not (tmp_path / "dist").exists()
    assert not list(empty_cache.rglob("*.whl"))


def test_the_record_claims_what_was_shown(
    built_wheels: Path, release: Release, pinned_api: Callable[[str], tuple[str, int]]
) -> None:
    """One wheel per Python of this machine, one plugin; a Python without an interpreter is recorded as not run."""
    document = json.loads((built_wheels / "release.json").read_text("utf-8"))
    assert {path.name for path in built_wheels.iterdir()} == {
        "release.json",
        *(entry["filename"] for entry in document["wheels"]),
    }
    (plugin,) = (entry for entry in document["wheels"] if entry["distribution"] == "jaxlib-cpu")
    assert len(document["wheels"]) == 1 + count_pythons(release)
    assert (plugin["pjrt_api"], plugin["gpu_code"]) == (pinned_api("cpu")[0], [])
    assert plugin["proof"]["pjrt_attributes"]["xla_version"] == "2"
    for proof in plugin["proof"]["pythons"]:
        ran = bool(proof["programs"])
        assert (proof["level"], proof["reason"]) == (("device", "") if ran else ("static", "no interpreter"))


@pytest.fixture
def no_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the package index away from pip and uv, whatever this machine's configuration says."""
    for name, value in (("PIP_CONFIG_FILE", os.devnull), ("PIP_NO_INDEX", "1"), ("UV_OFFLINE", "1")):
        monkeypatch.setenv(name, value)
    for name in ("PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("wheel_python", "no_index")
def test_a_full_cache_needs_no_index(make_environment: Callable[[Path], Path], tmp_path: Path) -> None:
    """Once the requirements are cached, clean environments are made without any network."""
    python = make_environment(tmp_path)
    subprocess.run([str(python), "-I", "-c", "import jax"], check=True, env=clean_environ())


def test_the_smoke_programs_notice_the_wrong_client(wheel_python: Path, root: Path, tmp_path: Path) -> None:
    """A program that runs well on JAX's built-in client proves nothing about the plugin."""
    program = tmp_path / "program.py"
    program.write_text(
        "import os\nos.environ['JAXLIB_CPU_DISABLE'] = '1'\n" + (root / "tests/smoke/sort.py").read_text()
    )
    result = run_program(wheel_python, program, find_backend(root, "cpu"))
    assert result.outcome is Outcome.FAILED
    assert "JAX runs on its built-in client" in result.detail.splitlines()[-1]
