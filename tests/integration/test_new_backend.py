# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A vendor adds a backend: the steps of CONTRIBUTING.md, with the files as they are there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pjrtwheel.backend import find_backend
from pjrtwheel.bazel import shutdown
from pjrtwheel.bazel.invoke import BuildRequest, build
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.release.checks import check_inputs
from pjrtwheel.release.model import Release, load_release
from release_under_test import release_under_test

pytestmark = pytest.mark.integration

RELEASE = release_under_test().version

# A file's name in backticks at the start of a paragraph, and the code block behind that paragraph.
FILE = re.compile(r"^`(plugins/abacus/[^`]+)`.*?\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLATFORM = "linux_x86_64"
STUB = "tests/data/stub_xla/xla/xla/pjrt/c/stub_plugin.c"
PROGRAM = """
import jax
print(jax.__version__)
try:
    jax.devices("abacus")
except RuntimeError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def environ(
    tmp_path_factory: pytest.TempPathFactory, compile_library: Callable[..., Path], root: Path
) -> dict[str, str]:
    """Return the environment of the vendor: a package index with nothing but the new wheel, and a cache of its own.

    The cache has all that was downloaded before; Bazel starts afresh in it.
    """
    folder = tmp_path_factory.mktemp("vendor")
    (folder / "cache").mkdir()
    (folder / "cache/wheelhouses").symlink_to(cache_root(os.environ) / "wheelhouses")
    (folder / "cache/wheels").mkdir()
    for kept in (cache_root(os.environ) / "wheels").iterdir():
        (folder / "cache/wheels" / kept.name).symlink_to(kept)
    info = "abacus_pjrt-1.5.dist-info"
    (folder / "index").mkdir()
    with zipfile.ZipFile(folder / "index/abacus_pjrt-1.5-py3-none-manylinux_2_27_x86_64.whl", "w") as wheel:
        wheel.write(compile_library("abacus.so", root / STUB), "abacus_pjrt/abacus.so")
        wheel.writestr(f"{info}/licenses/NOTICE", "Counted by hand.\n")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: abacus-pjrt\nVersion: 1.5\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\n")
        wheel.writestr(f"{info}/RECORD", "")
    index = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder / "index"), "PIP_CONFIG_FILE": os.devnull}
    return {**os.environ, **index, "PJRTWHEEL_CACHE": str(folder / "cache")}


@pytest.fixture(scope="module")
def checkout(
    root: Path,
    built_wheels: Path,
    copy_checkout: Callable[[Path], Path],
    environ: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Path]:
    """Return a copy of the repository with the new directory; earlier builds have filled the cache."""
    assert built_wheels.is_dir()
    copy = copy_checkout(tmp_path_factory.mktemp("checkout") / "copy")
    files = dict(FILE.findall((root / "CONTRIBUTING.md").read_text("utf-8")))
    assert len(files) == 4
    for name, text in files.items():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text(text, "utf-8")
    yield copy
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PJRTWHEEL_CACHE", environ["PJRTWHEEL_CACHE"])
        shutdown.main(["--root", str(copy)])


@pytest.fixture(scope="module")
def run(checkout: Path, environ: dict[str, str]) -> Callable[..., str]:
    """Return a function that runs a module of the copy's tooling as nox does, and returns what it says to the user."""

    def run_(module: str, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments, "--root", str(checkout)],
            env={**environ, "PYTHONPATH": str(checkout / "build"), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stderr

    return run_


@pytest.fixture(scope="module")
def dist(checkout: Path, run: Callable[..., str]) -> Path:
    """Return the folder that the vendor's build fills, after the steps before it."""
    before = load_release(checkout, RELEASE).pins
    run("pjrtwheel", "pin", RELEASE, "--missing")
    after = load_release(checkout, RELEASE).pins
    assert {key: pin.version for key, pin in after.items() if key not in before} == {
        "plugin.abacus.linux_x86_64": "1.5"
    }
    assert {key: pin for key, pin in after.items() if key in before} == before
    run("pjrtwheel", "build", "abacus", "--no-smoke", "--release", RELEASE, "--dist", str(checkout / "dist"))
    return checkout / "dist"


def test_library_that_is_in_no_wheel_yet(
    checkout: Path, environ: dict[str, str], compile_library: Callable[..., Path], root: Path
) -> None:
    """The vendor's own build of the library makes a wheel while nothing of the vendor's is pinned."""
    release = load_release(checkout, RELEASE)
    assert "plugin.abacus.linux_x86_64" not in release.pins
    abacus, platform = find_backend(checkout, "abacus"), PLATFORMS[PLATFORM]
    check_inputs(release, abacus, platform, "file", platform)
    library = compile_library("abacus_of_today.so", root / STUB)
    request = BuildRequest(checkout, release, abacus, platform, "file", library, with_bindings=False)
    (directory,) = build(request, environ).directories
    report = json.loads((directory / "report.json").read_text("utf-8"))
    assert report["provenance"]["filename"] == library.name


@pytest.fixture(scope="module")
def python(dist: Path, install_wheels: Callable[[Path, Path], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment with the vendor's wheels and JAX."""
    return install_wheels(dist, tmp_path_factory.mktemp("user"))


def test_jax_finds_the_plugin(python: Path, tmp_path: Path, release: Release) -> None:
    """JAX loads the library out of the wheel and asks it for a client; the small plugin answers that it makes none."""
    done = subprocess.run([str(python), "-I", "-c", PROGRAM], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    version, error = done.stdout.splitlines()
    assert version == release.version
    assert "backend 'abacus': UNIMPLEMENTED: this is a stub of XLA: it makes no client" in error


def test_plugin_says_that_it_fits(python: Path, tmp_path: Path, release: Release) -> None:
    """The vendor's users can ask the package what it is."""
    command = [str(python), "-I", "-m", "jaxlib_abacus"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"jaxlib-abacus {release.version}, build 1, ")
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False, cwd=tmp_path)
    answer = json.loads(done.stdout)
    assert (answer["distribution"], answer["priority"], answer["fits"]) == ("jaxlib-abacus", 400, True)


def test_jaxlib_knows_the_new_extra(dist: Path, release: Release) -> None:
    """The vendor's set has wheels of jaxlib whose extra asks for the vendor's plugin, at the very release."""
    for wheel in sorted(dist.glob("jaxlib-*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            metadata = archive.read(f"jaxlib-{release.version}.dist-info/METADATA").decode()
        assert f'Requires-Dist: jaxlib-abacus=={release.version}; extra == "abacus"' in metadata.splitlines()


def test_record_says_where_the_library_came_from(dist: Path, release: Release) -> None:
    """The new wheel is in release.json next to the bindings, in one set with them, with the vendor's notice inside."""
    entries = json.loads((dist / "release.json").read_text("utf-8"))["wheels"]
    (entry,) = (entry for entry in entries if entry["distribution"] == "jaxlib-abacus")
    assert {entry["lock_id"] for entry in entries} == {entry["lock_id"]}
    assert (entry["provenance"]["project"], entry["provenance"]["version"]) == ("abacus-pjrt", "1.5")
    with zipfile.ZipFile(dist / entry["filename"]) as archive:
        assert (
            archive.read(f"jaxlib_abacus-{release.version}.dist-info/licenses/abacus.NOTICE") == b"Counted by hand.\n"
        )
