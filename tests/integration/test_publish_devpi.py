# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Publishing to a real devpi-server on loopback: large files, killed runs, promotion, and installers afterwards."""

import hashlib
import itertools
import os
import shutil
import signal
import subprocess
import sys
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests

from index_servers import PASSWORD, USERNAME, Devpi, Index, install_servers, run_devpi, run_simple_repository_server
from package_index import run_installer
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.venv import create_venv, find_uv, requirement_group, wheelhouse
from pjrtwheel.errors import PublishError
from pjrtwheel.fetch import cache_root
from pjrtwheel.files import hash_file
from pjrtwheel.publish.upload_api import UploadIndex
from pjrtwheel.release.model import Release
from pjrtwheel.wheel.names import parse_name
from programs import run_code
from release_folders import PLUGIN_TAG, list_release, write_release_folder
from small_wheels import build_wheel, describe_wheel

pytestmark = [pytest.mark.integration, pytest.mark.slow]

JSON_TYPE = "application/vnd.pypi.simple.v1+json"
LARGE, SMALL = 140_000_000, 4_000_000
LARGE_PLUGINS = [f"jaxlib_{name}-1.2.3+split.1-{PLUGIN_TAG}.whl" for name in ("abacus", "bead")]
BINDINGS = "jaxlib-1.2.3+split.1-cp312-cp312-manylinux_2_27_x86_64.whl"
DEVICES = "import jax; print(jax.devices()[0].client.platform_version, jax.numpy.arange(3).sum())"


@pytest.fixture(scope="module")
def programs(root: Path) -> Path:
    """Return the folder of the servers' programs."""
    return install_servers(root, cache_root(os.environ))


@pytest.fixture(scope="module")
def devpi(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Devpi]:
    """Return a running server; what it keeps is removed, for it is large."""
    folder = tmp_path_factory.mktemp("devpi")
    with run_devpi(programs, folder / "server") as server:
        yield server
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def large_release(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a release with two plugins of 140 MB each, which do not compress, and a `jaxlib`."""
    folder = tmp_path_factory.mktemp("large") / "release"
    folder.mkdir()
    for name in (*LARGE_PLUGINS, BINDINGS):
        content = hashlib.shake_256(name.encode()).digest(SMALL if name == BINDINGS else LARGE)
        build_wheel(folder, {**describe_wheel(name), "library.so": content}, name=name)
    list_release(folder)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def start(root: Path, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Return a function that starts a command of the tooling, with a cache of its own; none outlives the test."""
    environ = {
        **os.environ,
        "PYTHONPATH": str(root / "build"),
        "PJRTWHEEL_CACHE": str(tmp_path / "cache"),
        "TWINE_USERNAME": USERNAME,
        "TWINE_PASSWORD": PASSWORD,
        "CI": "",
    }
    with ExitStack() as processes:

        def run(*arguments: str | Path) -> subprocess.Popen[str]:
            command = [sys.executable, "-u", "-m", "pjrtwheel", *map(str, arguments), "--root", str(root)]
            process = subprocess.Popen(
                command, env=environ, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            processes.enter_context(process)  # which waits
            processes.callback(process.kill)
            return process

        yield run


@pytest.fixture
def publish(start: Callable[..., subprocess.Popen[str]]) -> Callable[..., tuple[int, str]]:
    """Return a function: arguments → exit status and output of `publish`."""

    def run(*arguments: str | Path) -> tuple[int, str]:
        process = start("publish", *arguments)
        output, _ = process.communicate()
        assert PASSWORD not in output
        return process.returncode, output

    return run


def digests_at(index: Index, projects: set[str]) -> dict[str, str]:
    """Return name → sha256 of the bytes that an index serves."""
    found = {}
    for project in projects:
        page = requests.get(f"{index.index_url}{project}/", headers={"Accept": JSON_TYPE}, timeout=60)
        for file in page.json()["files"] if page.ok else ():
            url = urllib.parse.urljoin(page.url, file["url"])
            found[file["filename"]] = hashlib.sha256(requests.get(url, timeout=60).content).hexdigest()
    return found


def wheels_of(folder: Path) -> dict[str, str]:
    """Return name → sha256 of the wheels of a folder."""
    return {path.name: hash_file(path) for path in folder.glob("*.whl")}


def projects_of(folder: Path) -> set[str]:
    """Return the projects of the wheels of a folder."""
    return {parse_name(path.name).distribution for path in folder.glob("*.whl")}


def test_identical_bytes_are_accepted_again_and_others_refused(
    devpi: Devpi, publish: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    """As `publish` counts on: the server itself answers 409 to another file of a name that it has."""
    index = devpi.add_index("identical")
    release, other = (write_release_folder(tmp_path / name, content=name.encode()) for name in ("release", "other"))
    assert publish("stage", release.path, *index.options)[0] == 0
    assert digests_at(index, projects_of(release.path)) == wheels_of(release.path)
    uploader = (USERNAME, PASSWORD)
    place = UploadIndex("stage", index.index_url, upload_url=index.upload_url, uploader=uploader)
    name, digest = release.entries[0].filename, release.entries[0].sha256
    place.upload(release.path / name, digest)
    with pytest.raises(PublishError, match="409"):
        place.upload(other.path / name, other.entries[0].sha256)
    status, output = publish("stage", other.path, *index.options)
    assert (status, "with other bytes" in output, "nothing was sent" in output) == (11, True, True)
    assert publish("stage", release.path, *index.options)[0] == 0
    assert digests_at(index, projects_of(release.path)) == wheels_of(release.path)


def test_killed_runs_leave_whole_files_and_are_resumed(
    devpi: Devpi,
    start: Callable[..., subprocess.Popen[str]],
    publish: Callable[..., tuple[int, str]],
    large_release: Path,
) -> None:
    """Killed while a plugin is sent, what is there is whole, and there is no jaxlib; the last run sends the rest."""
    index, expected = devpi.add_index("killed"), wheels_of(large_release)
    counts = []
    for number in (1, 2):
        process = start("publish", "stage", large_release, *index.options)
        assert process.stdout
        assert any(f"{number}/3 sending" in line for line in process.stdout)
        process.kill()
        assert process.wait() == -signal.SIGKILL
        found = digests_at(index, projects_of(large_release))
        assert found.items() <= expected.items()
        assert BINDINGS not in found
        counts.append(len(found))
    assert counts == [0, 1]
    assert publish("stage", large_release, *index.options)[0] == 0
    assert digests_at(index, projects_of(large_release)) == expected


def test_installers_take_a_real_release(
    root: Path,
    devpi: Devpi,
    programs: Path,
    publish: Callable[..., tuple[int, str]],
    built_wheels: Path,
    release: Release,
    interpreter: Interpreter,
    tmp_path: Path,
) -> None:
    """Pip and uv install jaxlib and jaxlib-cpu from devpi, and from a server in front of it that has metadata."""
    folder = tmp_path / "release"
    folder.mkdir()
    for wheel in built_wheels.glob("*.whl"):
        if parse_name(wheel.name).fits(interpreter.tag):  # the others would take long, and show no more
            (folder / wheel.name).hardlink_to(wheel.resolve())
    list_release(folder)
    index, fitting = devpi.add_index("real"), sorted(folder.glob("*.whl"))
    assert {parse_name(wheel.name).distribution for wheel in fitting} == {"jaxlib", "jaxlib-cpu"}
    needs = [f"jax=={release.version}", *requirement_group(root, "smoke")]
    links = wheelhouse(interpreter, needs, fitting, cache_root(os.environ))
    with run_simple_repository_server(programs, index, tmp_path / "front.log") as front:
        status, output = publish("stage", folder, "--upload-url", index.upload_url, "--index-url", front)
        assert status == 0, output
        page = requests.get(f"{front}jaxlib-cpu/", headers={"Accept": JSON_TYPE}, timeout=60).json()
        assert [bool(file.get("core-metadata")) for file in page["files"]] == [True] * len(page["files"]) != []
        pip = (sys.executable, "-m", "pip", "--python", "{}", "install", "--no-input", "--progress-bar", "off")
        uv = (find_uv(), "pip", "install", "--python", "{}")
        for number, (tool, url) in enumerate(itertools.product((pip, uv), (index.index_url, front))):
            python = create_venv(interpreter, tmp_path / f"venv{number}")
            command = [str(part).format(python) for part in tool]
            wanted = [*needs, f"jaxlib[cpu]=={release.set_version}"]
            run_installer(*command, "--index-url", url, "--find-links", links, *wanted)
            done = run_code(python, DEVICES, folder=tmp_path / f"empty{number}", environ={"JAX_PLATFORMS": "cpu"})
            assert (done.returncode, done.stdout.split()[-1:]) == (0, ["3"]), done.stderr
