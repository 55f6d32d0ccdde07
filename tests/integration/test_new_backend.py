# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A vendor adds a backend: the steps of docs/vendor/tutorial.md, with the files that `wrap` writes."""

import json
import os
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bazel_outputs import remove_outputs
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.release.known import load_release
from pjrtwheel.release.model import Release
from plugin_status import verdict_of
from programs import run_tooling
from release_under_test import release_under_test
from small_wheels import build_wheel, describe_wheel

pytestmark = [pytest.mark.integration, pytest.mark.slow]

RELEASE = release_under_test().version

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
    name = f"abacus_pjrt-{RELEASE}-py3-none-manylinux_2_27_x86_64.whl"
    library = Path(shutil.copy(compile_library("abacus.so", root / STUB), folder))
    members = {
        "abacus_pjrt/abacus.so": library.read_bytes(),
        f"abacus_pjrt-{RELEASE}.dist-info/licenses/NOTICE": b"Counted by hand.\n",
    }
    (folder / "index").mkdir()
    build_wheel(folder / "index", {**members, **describe_wheel(name)}, name=name)
    index = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder / "index"), "PIP_CONFIG_FILE": os.devnull}
    return {**os.environ, **index, "PJRTWHEEL_CACHE": str(folder / "cache"), "ABACUS": str(library)}


@pytest.fixture(scope="module")
def checkout(
    root: Path,
    built_wheels: Path,
    copy_checkout: Callable[[Path], Path],
    environ: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Path]:
    """Return a copy of the repository with the new directory; earlier builds have filled the cache.

    The wheel that was written with the directory is in `wrapped/`.
    """
    copy = copy_checkout(tmp_path_factory.mktemp("checkout") / "copy")
    (copy / "wrapped").mkdir()
    for path in built_wheels.iterdir():  # one is a plugin, which has the compiled extension
        (copy / "wrapped" / path.name).symlink_to(path)
    words: list[str | Path] = ["--name", "abacus", "--set", built_wheels, "--license", "MIT"]
    # A device that every machine has.
    words += ["--license-file", root / "SECURITY.md", "--save", copy / "plugins/abacus", "--device", os.devnull]
    done = run_tooling(copy, "wrap", environ["ABACUS"], *words, "--dist", copy / "wrapped", "--root", copy)
    assert done.returncode == 0, done.stderr
    yield copy
    remove_outputs(copy, Path(environ["PJRTWHEEL_CACHE"]))


@pytest.fixture(scope="module")
def run(checkout: Path, environ: dict[str, str]) -> Callable[..., str]:
    """Return a function that runs a command of the copy's tooling, and returns what it says to the user."""

    def run_(*words: str) -> str:
        done = run_tooling(checkout, *words, "--root", checkout, **environ)
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stderr

    return run_


@pytest.fixture(scope="module")
def dist(checkout: Path, run: Callable[..., str]) -> Path:
    """Return the folder that the vendor's build fills, after the steps before it."""
    before = load_release(checkout, RELEASE).pins
    run("pin", RELEASE)
    after = load_release(checkout, RELEASE).pins
    assert {key: pin.version for key, pin in after.items() if key not in before} == {
        "plugin.abacus.linux_x86_64": RELEASE
    }
    assert {key: pin for key, pin in after.items() if key in before} == before
    run("build", "abacus", "--no-smoke", "--release", RELEASE, "--dist", str(checkout / "dist"))
    return checkout / "dist"


@pytest.fixture(scope="module")
def vendor_dist(
    dist: Path, checkout: Path, run: Callable[..., str], built_wheels: Path, environ: dict[str, str]
) -> Path:
    """Return the folder with the vendor's plugin for the set that is published, in which the vendor had no part."""
    assert dist.is_dir()  # pinned by now
    target = checkout / "for_published"
    run("build", "abacus", "--xla", environ["ABACUS"], "--set", built_wheels, "--no-smoke", "--dist", target)
    return target


@pytest.fixture(scope="module")
def python(dist: Path, install_wheels: Callable[[Path, Path], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment with the vendor's wheels and JAX."""
    return install_wheels(dist, tmp_path_factory.mktemp("user"))


def test_jax_goes_on_without_the_device(python: Path, tmp_path: Path) -> None:
    """The library is not even opened; asked for by name, the platform fails with the reason, as the command does."""
    absent = f"import jaxlib_abacus; jaxlib_abacus.DEVICE = {str(tmp_path / 'abacus*')!r}\n"
    program = absent + USE
    assert call(python, "-c", program) == (0, "3.0 cpu\n", [])
    status, said, errors = call(python, "-c", program, JAX_PLATFORMS="abacus")
    assert (status, said) == (1, "")
    reason = f"there is no abacus: {tmp_path / 'abacus*'} is missing"
    assert any(reason in line for line in errors)
    status, said, _ = call(
        python, "-c", f"{absent}import runpy; runpy.run_module('jaxlib_abacus', run_name='__main__')"
    )
    assert (status, verdict_of(said)) == (0, f"jaxlib-abacus fits, but JAX cannot use it here: {reason}")


def test_set_of_the_vendor(dist: Path, release: Release) -> None:
    """The plugin is in one set with wheels of jaxlib whose extra asks for it, with the vendor's notice inside."""
    entries = json.loads((dist / "release.json").read_text("utf-8"))["wheels"]
    (entry,) = (entry for entry in entries if entry["distribution"] == "jaxlib-abacus")
    where = 'sys_platform == "linux" and platform_machine == "x86_64"'  # of [tags], which has one line
    need = f'jaxlib-abacus=={release.set_version}; ({where}) and extra == "abacus"'
    assert [need in other["requires"] for other in entries if other is not entry] == [True] * (len(entries) - 1)
    assert {other["lock_id"] for other in entries} == {entry["lock_id"]}
    assert (entry["provenance"]["project"], entry["provenance"]["version"]) == ("abacus-pjrt", RELEASE)
    with zipfile.ZipFile(dist / entry["filename"]) as archive:
        info = f"jaxlib_abacus-{release.set_version}.dist-info"
        assert archive.read(f"{info}/licenses/abacus.NOTICE") == b"Counted by hand.\n"
        assert archive.read(f"{info}/licenses/abacus.SECURITY.md")


def lock_of(wheel: Path, package: str) -> bytes:
    """Return the release lock in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(f"{package}/release_lock.json")


def test_a_plugin_for_a_published_set_is_all_that_is_built(
    vendor_dist: Path, dist: Path, built_wheels: Path, checkout: Path, release: Release
) -> None:
    """It has the bytes that `wrap` wrote from the same library, and that set's lock; the vendor's own set has not."""
    (wheel,) = vendor_dist.glob("*.whl")
    assert wheel.read_bytes() == (checkout / "wrapped" / wheel.name).read_bytes()
    jaxlib = next(built_wheels.glob("jaxlib-*.whl"))
    published = lock_of(jaxlib, "jaxlib")
    assert lock_of(wheel, "jaxlib_abacus") == published
    assert published != lock_of(next(dist.glob("jaxlib-*.whl")), "jaxlib")
    (entry,) = json.loads((vendor_dist / "release.json").read_text("utf-8"))["wheels"]
    assert (entry["distribution"], entry["version"]) == ("jaxlib-abacus", release.set_version)
    assert entry["requires"] == [f"jaxlib=={release.set_version}"]


@pytest.fixture(scope="module")
def install_official(
    built_wheels: Path, install_wheels: Callable[[Path, Path], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Path], Path]:
    """Return a function: a folder of wheels → the Python of an environment with the published set and its plugin."""

    def install(vendor: Path) -> Path:
        folder = tmp_path_factory.mktemp("official")
        (folder / "wheels").mkdir()
        for wheel in (*built_wheels.glob("*.whl"), *vendor.glob("jaxlib_abacus-*.whl")):
            (folder / "wheels" / wheel.name).symlink_to(wheel)
        return install_wheels(folder / "wheels", folder)

    return install


USE = "import jax; print(float(jax.numpy.arange(3).sum()), jax.devices()[0].platform)"


def call(python: Path, *arguments: str, **environ: str) -> tuple[int, str, list[str]]:
    """Run Python as a user would, and return its status, output and the lines of its errors."""
    command = [str(python), "-I", *arguments]
    variables = {name: value for name, value in os.environ.items() if not name.startswith("JAX")}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=python.parent, env={**variables, **environ}
    )
    return done.returncode, done.stdout, done.stderr.splitlines()


def test_a_plugin_for_the_published_set_serves_next_to_it(
    vendor_dist: Path, install_official: Callable[[Path], Path]
) -> None:
    """JAX asks it for a client, and says itself why there is none: the library is a small one."""
    python = install_official(vendor_dist)
    status, said, _ = call(python, "-m", "jaxlib_abacus")
    platform = "its platform 'abacus': jax.devices('abacus') are its own"
    assert (status, verdict_of(said)) == (0, f"jaxlib-abacus fits here: JAX uses it for {platform}")
    status, said, errors = call(python, "-c", PROGRAM, JAX_PLATFORMS="cpu,abacus")
    assert "backend 'abacus': UNIMPLEMENTED: this is a stub of XLA" in said + "".join(errors)


def test_a_plugin_of_another_set_leaves_jax_alone(dist: Path, install_official: Callable[[Path], Path]) -> None:
    """One line says so and JAX computes; asked for by name, it is an error with the reason."""
    python = install_official(dist)
    status, said, errors = call(python, "-c", USE)
    assert (status, said) == (0, "3.0 cpu\n")
    (line,) = errors
    named = ("uv pip uninstall jaxlib-abacus", "uv pip install --force-reinstall --no-deps jaxlib-abacus==")
    assert [command in line for command in named] == [True, True]
    assert call(python, "-c", USE, JAX_PLATFORMS="cpu") == (0, "3.0 cpu\n", [])
    status, said, errors = call(python, "-c", USE, JAX_PLATFORMS="abacus")
    assert (status, said) == (1, "")
    assert any("OtherSetError: jaxlib-abacus" in text for text in errors)
    assert call(python, "-m", "jaxlib_abacus")[0] == 1
