# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Real wheels and real environments, made once for all integration tests."""

import fcntl
import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bazel_outputs import remove_outputs
from browser import Browser, explain_missing, find_browser, start_browser
from pjrtwheel.backend import Backend, find_backend, load_backends
from pjrtwheel.dist_folder.folder import read_folder
from pjrtwheel.environment.interpreters import Interpreter, find_interpreters
from pjrtwheel.environment.venv import create_environment, find_uv, requirement_group
from pjrtwheel.fetch import WheelCache, cache_root, download_wheel, unpack_wheel
from pjrtwheel.release.known import choose_release, load_release
from pjrtwheel.release.model import Release
from pjrtwheel.wheel.names import parse_name
from programs import run_tooling
from release_entries import link_wheels
from release_under_test import release_under_test

PLATFORM = "linux_x86_64"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is about a backend that the release under test lacks as slow: another release is built for it."""
    release, known = release_under_test(), load_backends(config.rootpath)
    elsewhere = {name for name in known if PLATFORM not in release.platforms(name)}
    for item in items:
        values = item.callspec.params.values() if hasattr(item, "callspec") else ()
        if item.get_closest_marker("integration") and any(isinstance(v, str) and v in elsewhere for v in values):
            item.add_marker(pytest.mark.slow)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Remove what all processes of a run share, and what each kept, also after a failure: it is gigabytes."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        base = session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        for folder in (base / "shared", *base.glob("session*"), *base.glob("popen-*/session*")):
            shutil.rmtree(folder, ignore_errors=True)


CHECKOUT_FOLDERS = ("build", "ci", "jaxlib", "plugins", "releases", "selector", "tests/aot", "tests/smoke")
CHECKOUT_FILES = (".bazelrc", ".bazelversion", "BUILD.bazel", "LICENSE", "WORKSPACE", "pyproject.toml")

# What a library says of its PJRT_Api itself: the version, and how many functions follow it.
ASK_API = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.GetPjrtApi.restype = ctypes.c_void_p
api = library.GetPjrtApi()
size, major, minor = (kind.from_address(api + at).value
                      for kind, at in ((ctypes.c_size_t, 0), (ctypes.c_int, 32), (ctypes.c_int, 36)))
print(f"{major}.{minor}", (size - 40) // 8)
"""

# As the extension itself is compiled, see build/rules/private/compiler.bzl.
FLAGS = ("-std=c11", "-O1", "-fPIC", "-fvisibility=hidden", "-fno-sanitize=all", "-Wall", "-Wextra", "-Werror")


def build_wheels(root: Path, backend: str, dist: Path, *options: str) -> Path:
    """Run the real build command, and return the folder with its wheels."""
    result = run_tooling(root, "build", backend, "--root", root, "--dist", dist, *options)
    assert result.returncode == 0, result.stderr[-4000:]
    return dist


def take_wheels(folder: Path, backend: Backend, version: str, target: Path) -> Path:
    """Make a folder of links to the wheels of one backend and the bindings, with a record of those alone."""
    wanted = {"jaxlib", *backend.distributions}
    chosen = {
        name: entry
        for name, entry in read_folder(folder).items()
        if entry.distribution in wanted and entry.version == version
        if all(tag.endswith("_x86_64") for tag in entry.tags)
    }
    found = {entry.distribution for entry in chosen.values()}
    assert found == wanted, f"PJRTWHEEL_DIST lacks some of {wanted} of version {version}"
    return link_wheels(folder, chosen, target)


def has_wheels(folder: Path, backend: Backend, version: str) -> bool:
    """Return whether a folder has the wheel of a backend."""
    entries = read_folder(folder).values()
    return any(entry.distribution == backend.distribution and entry.version == version for entry in entries)


def provide_wheels(root: Path, backend: str, release: Release, shared: Path, target: Path) -> Path:
    """Make a folder with the wheels of one backend and release: out of the one that PJRTWHEEL_DIST names, else built.

    PJRTWHEEL_DIST is a folder with the finished wheels of all backends of the release under test, as `dist/` is after
    building each. Those of another release are built if it lacks them. What is built is built once, in a folder that
    the processes of one run share, and is proven for the CPU of the release under test.
    """
    given, model, version = os.environ.get("PJRTWHEEL_DIST"), find_backend(root, backend), release.set_version
    if given and (release == release_under_test() or has_wheels(Path(given), model, version)):
        return take_wheels(Path(given), model, version, target)
    dist, proven = shared / release.version, backend == "cpu" and release == release_under_test()
    with (shared / f"{release.version}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (dist.is_dir() and has_wheels(dist, model, version)):
            build_wheels(root, backend, dist, "--release", release.version, *([] if proven else ["--no-smoke"]))
    return take_wheels(dist, model, version, target)


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that all processes of one run of pytest share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def session_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for what this process keeps until its end; see `remove_folders`."""
    return tmp_path_factory.mktemp("session")


@pytest.fixture(scope="session", autouse=True)
def uv_cache(shared_folder: Path) -> Iterator[None]:
    """Give uv a cache of this run, from which environments link: in its own it would keep our wheels of every run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UV_CACHE_DIR", str(shared_folder / "uv"))
        yield


@pytest.fixture(scope="module", autouse=True)
def remove_folders(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, session_folder: Path, shared_folder: Path
) -> Iterator[None]:
    """Remove the folders that a module made, unless a test of it failed: wheels and environments are large."""
    base, failed = tmp_path_factory.getbasetemp(), request.session.testsfailed
    kept = {session_folder, shared_folder, *base.iterdir()}
    yield
    ours = [name for backend in load_backends(request.config.rootpath).values() for name in backend.distributions]
    subprocess.run([find_uv(), "cache", "clean", "--quiet", "jaxlib", *ours], check=False)  # never installed from again
    if request.session.testsfailed == failed:
        for folder in set(base.iterdir()) - kept:
            if not folder.is_symlink():
                shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def release_of(root: Path, release: Release) -> Callable[[str], Release]:
    """Return a function: a backend → the release under test, or where that lacks the backend the newest that has it."""

    def choose(backend: str) -> Release:
        return release if PLATFORM in release.platforms(backend) else choose_release(root, None, PLATFORM, backend)

    return choose


@pytest.fixture(scope="session")
def built_wheels(root: Path, release: Release, shared_folder: Path, session_folder: Path) -> Path:
    """Return a folder with the proven wheels of the CPU."""
    return provide_wheels(root, "cpu", release, shared_folder, session_folder / "built")


@pytest.fixture(scope="session")
def backend_wheels(
    root: Path, release_of: Callable[[str], Release], shared_folder: Path, session_folder: Path
) -> Callable[[str], Path]:
    """Return a function: name of a backend → folder with its wheel and the bindings; provided once, perhaps not proven.

    They are of the release that `release_of` chooses. The wheels of a backend can be a tenth of a gigabyte and
    more: ask for those that show the thing, not for all.
    """

    @functools.cache
    def wheels(backend: str) -> Path:
        return provide_wheels(root, backend, release_of(backend), shared_folder, session_folder / f"wheels_{backend}")

    return wheels


@pytest.fixture(scope="session")
def pinned_api(
    root: Path, release_of: Callable[[str], Release], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], tuple[str, int]]:
    """Return a function: a backend → version and number of functions of the PJRT API in upstream's pinned library."""

    def ask(backend: str) -> tuple[str, int]:
        member, folder = find_backend(root, backend).prebuilt.member, tmp_path_factory.mktemp("pinned")
        wheel = WheelCache(cache_root(os.environ), download_wheel).fetch(
            release_of(backend).pin(f"plugin.{backend}.{PLATFORM}")
        )
        unpack_wheel(wheel, folder, [member])
        command = [sys.executable, "-c", ASK_API, str(folder / member)]
        version, functions = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        (folder / member).unlink()  # it may be large
        return version, int(functions)

    return ask


@pytest.fixture(scope="session")
def interpreter(release: Release) -> Interpreter:
    """Return the oldest Python of the release that is on this machine."""
    found = next((entry for entry in find_interpreters(release.pythons(PLATFORM)).values() if entry), None)
    if found is None:
        pytest.skip("no Python of this release is installed here")
    return found


@pytest.fixture(scope="session")
def install_wheels(root: Path, release: Release, interpreter: Interpreter) -> Callable[..., Path]:
    """Return a function: a folder of wheels and an empty one → the Python of a fresh environment there, with JAX.

    That is JAX of the release under test on its oldest Python, unless others are given.
    """

    def install(dist: Path, folder: Path, release: Release = release, interpreter: Interpreter = interpreter) -> Path:
        wheels = [wheel for wheel in dist.glob("*.whl") if parse_name(wheel.name).fits(interpreter.tag)]
        requirements = [f"jax=={release.version}", *requirement_group(root, "smoke")]
        place, cache = folder / "venv", cache_root(os.environ)
        return create_environment(interpreter, requirements, wheels, target=place, cache=cache)

    return install


@pytest.fixture(scope="session")
def make_environment(built_wheels: Path, install_wheels: Callable[..., Path]) -> Callable[[Path], Path]:
    """Return a factory: an empty folder → the Python of a fresh environment in it, with the built wheels and JAX."""
    return lambda folder: install_wheels(built_wheels, folder)


@pytest.fixture(scope="session")
def copy_checkout(root: Path) -> Callable[[Path], Path]:
    """Return a function: a new folder → a copy there of what a build reads, which a test may edit."""

    def copy(target: Path) -> Path:
        for folder in CHECKOUT_FOLDERS:
            shutil.copytree(root / folder, target / folder, ignore=shutil.ignore_patterns("__pycache__"))
        for name in CHECKOUT_FILES:
            shutil.copy(root / name, target / name)
        remove_outputs(target)  # of a run that was killed, and had a checkout at this path
        return target

    return copy


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return a running browser."""
    found = find_browser()
    if found is None:
        pytest.skip(explain_missing())
    with start_browser(*found) as running:
        yield running


@pytest.fixture(scope="session")
def wheel_python(make_environment: Callable[[Path], Path], session_folder: Path) -> Path:
    """Return the Python of an environment with the built wheels and JAX, shared by tests that change none of that."""
    return make_environment(session_folder / "wheel_python")


@pytest.fixture(scope="session")
def python_for(
    root: Path,
    release: Release,
    release_of: Callable[[str], Release],
    install_wheels: Callable[..., Path],
    wheel_python: Path,
    shared_folder: Path,
    session_folder: Path,
) -> Callable[[str], Path]:
    """Return a function: a backend → the Python of an environment like `wheel_python`, of the release of its wheel."""

    @functools.cache
    def make(version: str) -> Path:
        if version == release.version:
            return wheel_python
        other, folder = load_release(root, version), session_folder / version
        return install_wheels(provide_wheels(root, "cpu", other, shared_folder, folder / "dist"), folder, other)

    return lambda backend: make(release_of(backend).version)


@pytest.fixture(scope="session")
def compile_library(root: Path, release: Release, session_folder: Path) -> Callable[..., Path]:
    """Return a function: sources and options → shared library, by the pinned compiler with the pinned headers."""
    cache = WheelCache(cache_root(os.environ), download_wheel)
    folder = session_folder / "compiler"
    folder.mkdir()
    unpack_wheel(cache.fetch(release.pin("compiler.linux_x86_64")), folder, ["ziglang/*"])
    unpack_wheel(cache.fetch(release.pin("header.pjrt_c_api")), folder, ["*/pjrt_c_api.h"])
    unpack_wheel(cache.fetch(release.pin("bindings.cp312.linux_x86_64")), folder, ["jaxlib/include/*"])
    (header,) = folder.rglob("pjrt_c_api.h")
    includes = [f"-I{path}" for path in (root / "plugins/pjrt", header.parent, folder / "jaxlib/include")]
    compiler = folder / "ziglang/zig"
    environ = {
        **os.environ,
        "ZIG_GLOBAL_CACHE_DIR": str(folder / "cache"),
        "ZIG_LOCAL_CACHE_DIR": str(folder / "cache"),
    }

    def compile_(name: str, *arguments: str | Path, shared: bool = True) -> Path:
        output = folder / name
        target = ("-target", "x86_64-linux-gnu.2.17", "-shared" if shared else "-c")
        command = [str(compiler), "cc", *target, *FLAGS, *includes, "-o", str(output), *map(str, arguments)]
        result = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
        assert result.returncode == 0, result.stderr
        return output

    return compile_


@pytest.fixture(scope="session")
def fake_libcuda(root: Path, session_folder: Path, request: pytest.FixtureRequest) -> Path:
    """Return a folder with the fake library, by the compiler of the system or else the pinned one."""
    source = root / "tests/data/fake_libcuda.c"
    folder = session_folder / "libcuda"
    folder.mkdir()
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        shutil.copy(request.getfixturevalue("compile_library")("libcuda.so.1", "-D_GNU_SOURCE", source), folder)
        return folder
    flags = ("-std=gnu11", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror")
    subprocess.run([compiler, *flags, "-o", str(folder / "libcuda.so.1"), str(source)], check=True)
    return folder
