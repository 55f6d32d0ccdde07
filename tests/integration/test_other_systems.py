# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`jaxlib` for macOS and Windows, built on Linux: what is in the wheels, and one lock for users of all systems."""

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from bazel_outputs import remove_outputs
from package_index import serve_folder
from pjrtwheel.backend import load_backends
from pjrtwheel.binaries import read_library
from pjrtwheel.dist_folder.folder import read_folder
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.environment.venv import create_venv, find_uv
from pjrtwheel.fetch import WheelCache, cache_root, download_wheel
from pjrtwheel.files import hash_file
from pjrtwheel.platforms import PLATFORMS, find_platform
from pjrtwheel.products.index import write_index
from pjrtwheel.products.index.closure import read_closure
from pjrtwheel.prove.proof_file import read_proof_file
from pjrtwheel.record.entries import Entry
from pjrtwheel.record.proofs import Level
from pjrtwheel.release.known import load_release
from pjrtwheel.release.model import Release
from pjrtwheel.release.wheels import LOCK_FILENAME
from pjrtwheel.verify.inspection import inspect_wheel
from pjrtwheel.wheel.metadata import read_field
from pjrtwheel.wheel.names import parse_name
from programs import run_tooling
from release_entries import link_wheels
from release_under_test import release_under_test

pytestmark = [pytest.mark.integration, pytest.mark.slow]

RELEASE = release_under_test().version

# As uv names the systems of our platforms, after `--python-platform` and in markers.
TARGETS = {"macos_arm64": "aarch64-apple-darwin", "windows_x86_64": "x86_64-pc-windows-msvc"}
MARKERS = {
    "linux_x86_64": "sys_platform == 'linux' and platform_machine == 'x86_64'",
    "macos_arm64": "sys_platform == 'darwin' and platform_machine == 'arm64'",
    "windows_x86_64": "sys_platform == 'win32' and platform_machine == 'AMD64'",
}


@pytest.fixture(scope="module")
def dist(
    copy_checkout: Callable[[Path], Path], interpreter: Interpreter, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return a folder with the plugin for the CPU, and `jaxlib` for Linux, macOS and Windows.

    They are those of PJRTWHEEL_DIST if it has them, else built for one Python.
    """
    folder = tmp_path_factory.mktemp("systems")
    given = Path(os.environ.get("PJRTWHEEL_DIST", folder))
    version = release_under_test().set_version
    found = read_folder(given) if given != folder else {}
    listed = {name: entry for name, entry in found.items() if entry.version == version}
    if {_platform(name) for name in listed} >= set(MARKERS):
        cpu = {name: entry for name, entry in listed.items() if entry.distribution in {"jaxlib", "jaxlib-cpu"}}
        return link_wheels(given, cpu, folder)
    return build_wheels(take_one_python(copy_checkout(folder / "checkout"), interpreter.tag), folder / "dist")


def take_one_python(checkout: Path, python: str) -> Path:
    """Leave the bindings of one Python in the release of a checkout: the others would take minutes to build."""
    path = load_release(checkout, RELEASE).path
    others = rf'\[\[pin\]\]\nkey = "bindings\.(?!{python}\.)[^"]*"\n(.+\n)*\n*'
    path.write_text(re.sub(others, "", path.read_text("utf-8")), "utf-8")
    assert {load_release(checkout, RELEASE).pythons(platform) for platform in MARKERS} == {(python,)}
    return checkout


def build_wheels(checkout: Path, dist: Path) -> Path:
    """Run the real build command for each system, and end its Bazel."""
    options = ("--no-smoke", "--release", RELEASE, "--root", checkout, "--dist", dist)
    try:
        for what in (("cpu",), *(("--bindings-only", f"--platform={platform}") for platform in TARGETS)):
            result = run_tooling(checkout, "build", *what, *options)
            assert result.returncode == 0, result.stderr[-4000:]
    finally:
        remove_outputs(checkout)
    return dist


@pytest.fixture(scope="module", params=TARGETS)
def entries(request: pytest.FixtureRequest, dist: Path) -> list[Entry]:
    """Return the record of the wheels for one system."""
    found = [entry for name, entry in read_folder(dist).items() if _platform(name) == request.param]
    assert found
    return found


def _platform(wheel: str) -> str:
    platform = parse_name(wheel).platform
    return platform.name if platform else ""


def describe(wheel: Path) -> dict[str, tuple[bytes, int]]:
    """Return the bytes and the permission to execute of each member."""
    with zipfile.ZipFile(wheel) as archive:
        infos = [info for info in archive.infolist() if not info.is_dir()]
        return {info.filename: (archive.read(info), info.external_attr >> 16 & 0o111) for info in infos}


def test_no_byte_of_a_library_is_changed(release: Release, dist: Path, entries: list[Entry]) -> None:
    """Nor of any other member but the metadata: a signature of macOS holds for the very bytes that were signed."""
    cache = WheelCache(cache_root(os.environ), download_wheel)
    for entry in entries:
        python = parse_name(entry.filename).tags[0].abi
        pin = release.pin(f"bindings.{python}.{_platform(entry.filename)}")
        info, theirs = parse_name(entry.filename).dist_info, parse_name(pin.filename).dist_info
        upstream = {name.replace(theirs, info): found for name, found in describe(cache.fetch(pin)).items()}
        ours = describe(dist / entry.filename)
        changed = {name for name in upstream if upstream[name] != ours.get(name)}
        assert changed == {f"{info}/{name}" for name in ("METADATA", "WHEEL", "RECORD")}
        assert ours.keys() - upstream.keys() == {f"jaxlib/{LOCK_FILENAME}", f"{info}/sboms/pjrtwheel.cdx.json"}
        libraries = [name for name in upstream if name.endswith((".so", ".dylib", ".pyd", ".dll"))]
        assert len(libraries) > 25
        assert entry.changes == {}


def test_every_library_is_as_its_system_wants_it(root: Path, dist: Path, entries: list[Entry]) -> None:
    """For the one processor of the tag, and signed by its own bytes where the system demands it."""
    exports = {backend.library: backend.exports for backend in load_backends(root).values()}
    for entry in entries:
        platform = find_platform(_platform(entry.filename))
        found = inspect_wheel(dist / entry.filename, find_tool=lambda _: None, exports=exports)
        kinds = {(library.binary_format, library.machine, library.signature) for library in found.libraries}
        signature = {"macos": "ad hoc", "windows": ""}[platform.system]
        assert kinds == {(platform.binary_format, platform.machine, signature)}
        assert found.floors == {"macos": {"macOS": "11.0"}, "windows": {"Windows": "6.0"}}[platform.system]
        upstream = {"macos": {"license-field", "rpath-build-tree", "rpath-outside"}}
        expected = upstream.get(platform.system, {"license-field", "runtime"})
        assert {finding.code for finding in found.findings} == expected


def test_the_record_claims_no_more_than_was_read(dist: Path, entries: list[Entry]) -> None:
    """Nothing ran on Linux; the set is that of the wheels for Linux."""
    others = [entry for name, entry in read_folder(dist).items() if _platform(name) == "linux_x86_64"]
    for entry in entries:
        (python,) = entry.proof.pythons
        assert (entry.proof.level, python.results, bool(python.reason)) == ("static", (), True)
        assert {other.lock_id for other in others} == {entry.lock_id}


def test_the_metadata_is_the_same_for_all_systems(dist: Path) -> None:
    """Installers that lock for several systems read that of one wheel, and take it for that of all."""
    found = {}
    for name in read_folder(dist):
        if parse_name(name).distribution == "jaxlib":
            with zipfile.ZipFile(dist / name) as archive:
                text = archive.read(f"{parse_name(name).dist_info}/METADATA").decode()
            found[name] = tuple(read_field(text, field) for field in ("Requires-Dist", "Provides-Extra"))
    assert {_platform(name) for name in found} >= {"linux_x86_64", *TARGETS}
    assert len(set(found.values())) == 1


@pytest.fixture(scope="module")
def project(
    dist: Path, release: Release, interpreter: Interpreter, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """Return a locked project of users of all systems: our index first, and then the public one."""
    folder = tmp_path_factory.mktemp("project")
    minor = int(interpreter.tag[3:])
    write_index(dist, dist / "simple", closure=read_closure)
    with serve_folder(dist) as address:
        (folder / "pyproject.toml").write_text(f"""
[project]
name = "demo"
version = "1"
requires-python = ">=3.{minor},<3.{minor + 1}"
dependencies = ["jax=={release.version}", "jaxlib[cpu]"]
[tool.uv]
required-environments = {json.dumps(list(MARKERS.values()))}
[[tool.uv.index]]
url = "{address}simple/"
""")
        run_uv(folder, interpreter, "lock")
        yield folder


def run_uv(project: Path, interpreter: Interpreter, *arguments: str, **environ: str) -> str:
    """Run uv in a project with an interpreter of this machine."""
    command = [str(find_uv()), *arguments, f"--python={interpreter.path}"]
    variables = clean_environ(UV_PYTHON_DOWNLOADS="never", UV_NO_CACHE="1", **environ)
    result = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False, env=variables)
    assert result.returncode == 0, result.stderr
    return result.stdout + result.stderr


def test_one_lock_holds_for_users_of_all_systems(project: Path, dist: Path, interpreter: Interpreter) -> None:
    """Each finds the wheel of our set with its hash, and the plugin is for Linux alone."""
    packages = {entry["name"]: entry for entry in tomllib.loads((project / "uv.lock").read_text())["package"]}
    jaxlib = packages["jaxlib"]
    assert jaxlib["source"]["registry"].startswith("http://127.0.0.1:")
    expected = {
        name: f"sha256:{hash_file(dist / name)}"
        for name in read_folder(dist)
        if parse_name(name).distribution == "jaxlib" and parse_name(name).fits(interpreter.tag)
    }
    assert {unquote(wheel["url"].rsplit("/", 1)[1]): wheel["hash"] for wheel in jaxlib["wheels"]} == expected
    assert {_platform(name) for name in expected} >= set(MARKERS)
    (plugin,) = jaxlib["optional-dependencies"]["cpu"]
    assert (plugin["name"], plugin["marker"]) == ("jaxlib-cpu", "sys_platform == 'linux'")


def sync(project: Path, interpreter: Interpreter, place: Path, *arguments: str) -> dict[str, Any]:
    """Install what the lock says into a folder; return name and version of all, and the lock of our set."""
    options = ("sync", "--frozen", "--no-install-project", *arguments)
    run_uv(project, interpreter, *options, UV_PROJECT_ENVIRONMENT=str(place))
    (site,) = (place / "lib").glob("python3*/site-packages")
    return {path.parent.name: json.loads(path.read_text())["lock_id"] for path in site.glob(f"*/{LOCK_FILENAME}")}


def test_linux_gets_jaxlib_and_plugin_of_one_set(project: Path, interpreter: Interpreter, tmp_path: Path) -> None:
    """And they compute."""
    locks = sync(project, interpreter, tmp_path / "venv")
    assert set(locks) == {"jaxlib", "jaxlib_cpu"}
    assert len(set(locks.values())) == 1
    code = "import jax; print(jax.devices()[0].client.platform_version, jax.jit(lambda x: x + 1)(1))"
    python = tmp_path / "venv/bin/python"
    said = subprocess.check_output([python, "-I", "-c", code], text=True, env=clean_environ())
    assert said.splitlines()[-1].endswith(" 2")


@pytest.mark.parametrize("platform", TARGETS)
def test_other_systems_get_jaxlib_alone(project: Path, interpreter: Interpreter, tmp_path: Path, platform: str) -> None:
    """Of the same set, with the libraries of that system."""
    place = tmp_path / "venv"
    locks = sync(project, interpreter, place, f"--python-platform={TARGETS[platform]}")
    assert set(locks) == {"jaxlib"}
    member = {"macos": "_jax.so", "windows": "_jax.pyd"}
    (library,) = place.glob(f"lib/python3*/site-packages/jaxlib/{member[PLATFORMS[platform].system]}")
    assert read_library(library, library.name).machine == PLATFORMS[platform].machine


def test_pip_takes_ours_for_linux(project: Path, interpreter: Interpreter, tmp_path: Path) -> None:
    """From our index alone, which has wheels for other systems as well."""
    (index,) = tomllib.loads((project / "pyproject.toml").read_text())["tool"]["uv"]["index"]
    python = create_venv(interpreter, tmp_path / "venv")
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--dry-run", "--quiet", "--report=-"]
    wanted = tomllib.loads((project / "pyproject.toml").read_text())["project"]["dependencies"]
    report = json.loads(subprocess.check_output([*command, "--index-url", index["url"], *wanted]))
    chosen = {item["metadata"]["name"]: item["download_info"]["url"] for item in report["install"]}
    assert {name for name in chosen if name.startswith("jaxlib")} == {"jaxlib", "jaxlib-cpu"}
    assert all(chosen[name].startswith(index["url"]) for name in ("jaxlib", "jaxlib-cpu"))
    assert _platform(unquote(chosen["jaxlib"].rsplit("/", 1)[1])) == "linux_x86_64"


def test_the_programs_for_other_systems_run_here_as_well(
    root: Path, dist: Path, interpreter: Interpreter, tmp_path: Path
) -> None:
    """The script that CI starts on macOS and Windows: pip picks the wheel, it is of the set, and its proof travels."""
    proofs = tmp_path / "proofs.json"
    command = [str(interpreter.path), str(root / "ci/smoke_native.py"), str(dist), "--program=jit"]
    command += [f"--proofs={proofs}", "--signed-off-by=A Tester"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=clean_environ())
    assert result.returncode == 0, result.stderr
    first, second = result.stdout.splitlines()
    entries = read_folder(dist)
    lock = next(iter(entries.values())).lock_id
    assert f" of lock {lock[:8]} on linux, Python {interpreter.version}" in first
    assert second.split()[:2] == ["jit", "passed"]
    document = read_proof_file(proofs)
    (proven,) = document.wheels
    assert (document.signed_off_by, proven.sha256) == ("A Tester", entries[proven.wheel].sha256)
    assert parse_name(proven.wheel).fits(interpreter.tag)
    (shown,) = proven.proof.pythons
    assert (proven.proof.level, shown.python, shown.interpreter, shown.summary) == (
        Level.LOAD, interpreter.tag, interpreter.version, "1 program passed",
    )  # fmt: skip
