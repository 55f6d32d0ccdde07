# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Two clones and a remote cache, or an executor, on loopback: what they share, and what happens when a server fails."""

import base64
import functools
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from http_cache import HttpCache, run_http_cache
from justbuild import Executor, NoJustbuildError, provide_justbuild, run_justbuild
from pjrtwheel.bazel.remote import describe_processes, describe_warnings
from pjrtwheel.fetch.cache import cache_root
from remote_clones import Built, Clone, make_clones, write_settings

pytestmark = [pytest.mark.integration, pytest.mark.slow]

PASSWORD = "t0ken-0f-the-test-27182818"  # noqa: S105 - nobody's
SETTINGS = ("build --config=remote_cache", "build --remote_timeout=3")
HERE = {"linux-sandbox", "processwrapper-sandbox"}

MakeClone = Callable[..., Clone]
StartExecutor = Callable[..., AbstractContextManager[Executor]]


@pytest.fixture(scope="module")
def make_clone(
    copy_checkout: Callable[[Path], Path], built_wheels: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MakeClone]:
    """Return a function that makes a clone; the wheels that were built before have filled the cache of downloads."""
    assert built_wheels.is_dir()
    with make_clones(copy_checkout, tmp_path_factory.mktemp("remote")) as make:
        yield make


@pytest.fixture(scope="module")
def two_builds(make_clone: MakeClone, tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[Clone, Built], ...]:
    """Return two clones with as little in common as two machines have, and what each built first, without a server."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "home").mkdir()
    one = make_clone("one", TZ="UTC", LANG="C", USER="ada", LOGNAME="ada")
    other = {"TZ": "Asia/Tokyo", "LANG": "C.UTF-8", "USER": "bob", "LOGNAME": "bob", "HOME": str(folder / "home")}
    python = copy_python(folder / "python")
    two = make_clone("second/one", **other, PJRTWHEEL_PYTHON=str(python), CC="/no/compiler", PYTHONPATH="/no/modules")
    return tuple((clone, clone.build(None)) for clone in (one, two))


@pytest.fixture
def clones(two_builds: tuple[tuple[Clone, Built], ...], request: pytest.FixtureRequest) -> tuple[Clone, Clone]:
    """Return the two clones, in which every wheel of the TPU has to be made anew."""
    (one, _), (two, _) = two_builds
    for clone in (one, two):
        clone.describe(request.node.name)
    return one, two


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[HttpCache]:
    """Return a running cache, empty at first."""
    with run_http_cache(tmp_path / "http") as running:
        yield running


@pytest.fixture(scope="module")
def start_executor() -> StartExecutor:
    """Return a function that starts a server for remote execution, or skip the test."""
    try:
        program = provide_justbuild(cache_root(os.environ))
    except NoJustbuildError as error:
        pytest.skip(f"no server for remote execution: {error}")
    return functools.partial(run_justbuild, program)


def copy_python(target: Path) -> Path:
    """Copy the interpreter behind the tests with its pip to another place, and return the program."""
    base = Path(os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable))
    library = Path(os.__file__).resolve().parent
    ask = "import os, pip; print(os.path.dirname(pip.__path__[0]))"
    packages = Path(subprocess.run([base, "-I", "-c", ask], capture_output=True, text=True, check=True).stdout.strip())
    copied = target / sys.platlibdir / library.name
    (target / "bin").mkdir(parents=True)
    shutil.copy(base, target / "bin" / base.name)
    shutil.copytree(
        library, copied, ignore=shutil.ignore_patterns("__pycache__", "test", "site-packages", "dist-packages")
    )
    for pip in packages.glob("pip*"):  # Debian's Python looks into both of its `dist-packages`
        shutil.copytree(pip, copied / packages.name / pip.name, ignore=shutil.ignore_patterns("__pycache__"))
    return target / "bin" / base.name


def settings_of(cache: HttpCache, *lines: str) -> Path:
    """Write settings for a cache next to it, and return the file."""
    path = cache.folder.parent / "farm.bazelrc"
    return write_settings(path, *SETTINGS, f"build --remote_cache={cache.url}", *lines)


def executor_settings(path: Path, executor: Executor) -> Path:
    """Write settings for an executor, and return the file."""
    return write_settings(path, "build --config=remote_executor", f"build --remote_executor={executor.address}")


def description_of(built: Built) -> str:
    """Return METADATA of the only wheel of a build."""
    (wheel,) = built.result.wheels
    with zipfile.ZipFile(wheel.path) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return archive.read(name).decode()


def test_keys_hold_nothing_of_the_machine(
    two_builds: tuple[tuple[Clone, Built], ...], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Neither folders, homes, users, time zones and languages, nor the place of the same Python change one."""
    (_, one), (_, two) = two_builds
    assert {key["mnemonic"] for key in one.keys.values()} == {"AssembleWheel", "CompileExtension"}
    assert two.keys == one.keys
    assert set(one.runners.values()) | set(two.runners.values()) <= HERE
    text = str(one.keys)
    places = (tmp_path_factory.getbasetemp(), Path.home(), sys.base_prefix)
    assert [place for place in map(str, places) if place in text] == []
    assert two.wheels == one.wheels


def test_a_second_clone_takes_its_wheel_from_the_cache(clones: tuple[Clone, Clone], cache: HttpCache) -> None:
    """It assembles none. Credentials of the file reach the cache."""
    settings = settings_of(cache, f"build --remote_cache={cache.url.replace('://', f'://reader:{PASSWORD}@')}")
    first, second = (clone.build(settings) for clone in clones)
    assert first.where["AssembleWheel"] <= HERE
    assert second.where["AssembleWheel"] == {"remote cache hit"}
    assert describe_processes(second.result.log.text) == "1 remote cache hit"
    assert second.wheels == first.wheels
    credentials = base64.b64encode(f"reader:{PASSWORD}".encode()).decode()
    assert f"Basic {credentials}" in {value for headers in cache.headers for value in headers.values()}
    cache.forget()
    third = clones[1].build(None)  # all that the hit brought is here
    assert (third.runners, third.wheels) == ({}, first.wheels)


def test_extensions_come_from_no_cache(clones: tuple[Clone, Clone], cache: HttpCache) -> None:
    """Only compiling again could check them, so that is done."""
    for clone in clones:
        clone.comment("compiled here")
    for clone in clones:
        built = clone.build(settings_of(cache))
        assert built.where["CompileExtension"] <= HERE
        assert len(built.where["CompileExtension"]) == 1


def test_actions_run_on_another_machine(
    clones: tuple[Clone, Clone], start_executor: StartExecutor, tmp_path: Path
) -> None:
    """With nothing but the inputs that are declared, and to the same bytes; extensions as well."""
    for clone in clones:
        clone.comment("compiled elsewhere")
    here = clones[0].build(None)
    with start_executor(tmp_path / "farm") as executor:
        there = clones[1].build(executor_settings(tmp_path / "a", executor))
    assert set(here.runners.values()) <= HERE
    assert there.where == {"AssembleWheel": {"remote"}, "CompileExtension": {"remote"}}
    assert describe_processes(there.result.log.text) == f"{len(there.runners)} remote"
    assert there.wheels == here.wheels


def test_a_cache_that_dies(clones: tuple[Clone, Clone], cache: HttpCache, request: pytest.FixtureRequest) -> None:
    """In the middle, and before it is asked: the wheel is made here, and one line says why nothing was shared."""
    cache.break_down("gone", after=1)
    built = clones[0].build(settings_of(cache))
    assert request.node.name in description_of(built)
    assert built.where["AssembleWheel"] <= HERE
    assert describe_warnings(built.result.log.text).startswith("remote: ")
    absent = write_settings(cache.folder.parent / "absent", *SETTINGS, "build --remote_cache=grpc://127.0.0.1:1")
    clones[1].build(absent)


def test_a_result_without_its_files(clones: tuple[Clone, Clone], cache: HttpCache) -> None:
    """Bazel takes it for a success, and everything for up to date; the build notices that there is no wheel."""
    settings = settings_of(cache)
    clones[0].build(settings)
    for path in cache.folder.glob("ac/*"):
        path.write_bytes(b"")  # a message in which nothing is set
    assert clones[1].build(settings).result.wheels == ()
