# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Package indexes that `jaxlib-select` is given: several, unreachable ones, and one of PyTorch."""

import shlex
import shutil
import socket
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from jaxlib_select.apply.installer import Installer, make_plan, pip_installer, run_installer, uv_installer
from jaxlib_select.apply.resolution import resolve_group
from jaxlib_select.choose.decision import Decision
from jaxlib_select.installed.environment import other_environment
from package_index import NotingHandler, serve_folder
from pjrtwheel.environment.venv import find_uv
from select_bench import RELEASE, VERSION, WANTED, Bench, backends, installed, write_wheel
from select_commands import lacking

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_an_index_that_cannot_be_reached(bench: Bench, installer: str) -> None:
    """Three lines, exit status 4, and no lock is left behind."""
    with socket.socket() as taken:  # a port on which nobody listens
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/simple"
        online = replace(bench, more={"PIP_RETRIES": "1", "UV_OFFLINE": "0", "UV_HTTP_RETRIES": "0"})
        options = ("--python", bench.python("unreachable", pip=True), "--installer", installer, "--index-url", url)
        said = online.select("lock", "jax", "--groups", "cpu", *options, status=4)
    assert "error: the package index cannot be reached" in said
    assert not (bench.folder / "pylock.toml").exists()


def write_indexes(bench: Bench) -> Path:
    """Write two indexes: `ours` serves everything, `public` JAX as it is published, and a `jaxlib-cpu` 99."""
    root = bench.folder / "indexes"
    for wheel in bench.wheels.glob("*.whl"):
        name, version, *_ = wheel.name.split("-")
        for index in ["ours"] if "+" in version else ["public"] if name == "jaxlib" else ["ours", "public"]:
            place = root / index / name.replace("_", "-") / wheel.name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(wheel)
    (root / "public/jaxlib-cpu").mkdir(parents=True)
    write_wheel(root / "public/jaxlib-cpu", "jaxlib_cpu-99-py3-none-any.whl", {"jaxlib_cpu/__init__.py": ""})
    return root


@pytest.mark.parametrize("installer", ["uv", "pip"])
@pytest.mark.parametrize("main", ["ours", "public"])
def test_ours_is_taken_from_an_index_or_a_folder(bench: Bench, installer: str, main: str) -> None:
    """Next to a folder the index may be the public one: pip would take the highest `jaxlib-cpu` of both."""
    python = bench.python("new", pip=True)
    online = replace(bench, more={"UV_OFFLINE": "0"})
    target = ("--python", python, "--installer", installer, "--machine", bench.machine("cpu"))
    NotingHandler.asked.clear()
    with serve_folder(write_indexes(bench), NotingHandler) as address:
        (bench.folder / "uv.toml").write_text(f'extra-index-url = ["{address}public"]\n')  # as a project may have it
        more = ("--find-links", bench.wheels) if main == "public" else ()
        where = ("--index", f"{address}{main}", *more)
        online.select("lock", "jax", "--groups", "cpu", *target, *where)
        packages = tomllib.loads((bench.folder / "pylock.toml").read_text())["packages"]
        said = online.select("install", "jax", *target, *where)
        again = bench.python("again", pip=True)
        online.select("apply", *target, "--python", again)  # the lock knows the indexes
    (bench.folder / "uv.toml").unlink()
    assert {path.split("/")[1] for path in NotingHandler.asked} == {main}
    (jaxlib,) = (package for package in packages if package["name"] == "jaxlib")
    assert ["%2B" in wheel["url"] or "+" in wheel["url"] for wheel in jaxlib["wheels"]] == [True]
    assert (backends(python), backends(again)) == (WANTED["cpu"], WANTED["cpu"])
    place = str(bench.wheels) if main == "public" else f"{address.removeprefix('http://')}ours"
    assert f"jaxlib_cpu-{VERSION}-*.whl  from {place}"[:77] in said
    result, check = said.splitlines()[-2:]
    assert (result.partition(":")[0], str(python) in check) == (f"JAX {RELEASE}", True)


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_jax_s_own_wheels_are_taken_from_the_index_there_is(bench: Bench, installer: str) -> None:
    """No name of ours is asked for there, as anybody may have it; a jaxlib of ours makes place."""
    python, index = bench.python("new", pip=True), write_indexes(bench)
    bench.select("install", "jax", *bench.target(python, "cpu", installer))
    with serve_folder(index) as address:
        mirror = {"UV_DEFAULT_INDEX": f"{address}public", "PIP_INDEX_URL": f"{address}public"}
        online = replace(bench, more={"UV_OFFLINE": "0", **mirror})
        target = ("--python", python, "--installer", installer, "--machine", bench.machine("cpu"))
        said = online.select("install", "jax", *target)
        assert installed(python)["jaxlib"] == f"{RELEASE}-none"
        online.select("lock", "jax", *target)
        packages = tomllib.loads((bench.folder / "pylock.toml").read_text())["packages"]
        online.check(bench.folder / "pylock.toml", "cpu")
        said = online.select("install", "jax", *target, "--provider", "ours", status=2)
    assert lacking(said, "--index URL", "--find-links DIR") == []
    assert not [package for package in packages if package["name"].startswith("jaxlib-")]


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_jaxs_own_jaxlib_is_neither_installed_nor_locked(bench: Bench, installer: str) -> None:
    """Where the only index with a jaxlib has JAX's own: nothing is changed, and the message says what is missing."""
    python, index = bench.python("new", pip=True), write_indexes(bench)
    online = replace(bench, more={"UV_OFFLINE": "0"})
    for wheel in (index / "ours/jaxlib-cpu").iterdir():
        wheel.rename(index / "public/jaxlib-cpu" / wheel.name)
    target = ("--python", python, "--installer", installer, "--machine", bench.machine("cpu"))
    with serve_folder(index) as address:
        where = ("--index-url", f"{address}public")
        for command in (("lock", "jax", "-o", "requirements.txt"), ("install", "jax")):
            said = online.select(*command, *target, *where, status=4)
            assert ": --index-url URL, or --find-links DIR" in said
    assert (backends(python), (bench.folder / "requirements.txt").exists()) == ({}, False)


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_no_source_of_a_strangers_is_run(bench: Bench, installer: str) -> None:
    """Where the only file of our version is an sdist: that is an error, not a build."""
    python, marker = bench.python("new", pip=True), bench.folder / "marker"
    folder = bench.folder / "sources"
    shutil.copytree(bench.wheels, folder, ignore=shutil.ignore_patterns("jaxlib_cpu-*"))
    source = bench.folder / f"packed/jaxlib_cpu-{VERSION}"
    source.mkdir(parents=True)
    backend = '[build-system]\nrequires = []\nbuild-backend = "setup"\nbackend-path = ["."]\n'
    (source / "pyproject.toml").write_text(backend)
    (source / "setup.py").write_text(f"open({str(marker)!r}, 'w')\n")
    shutil.make_archive(str(folder / source.name), "gztar", source.parent)
    target = bench.target(python, "cpu", installer)[:-1]
    for command in (("install", "jax"), ("lock", "jax", "-o", "requirements.txt")):
        said = bench.select(*command, *target, folder, status=4)
        assert "error: the package index does not have what is wanted" in said
    planned = bench.select("install", "jax", "--dry-run", *target, folder).splitlines()
    (step,) = (line for line in planned if " install " in line)
    assert bench.attempt(*shlex.split(step)).returncode != 0
    assert not marker.exists()


def write_torch(bench: Bench) -> Path:
    """Write a small PyTorch for the CPU, and a folder that serves one for CUDA 12.6 with what it needs."""
    index = bench.folder / "index"
    for name in ("cpu/torch", "cu126/torch", "cu126/small"):
        (index / name).mkdir(parents=True)
    write_wheel(index / "cpu/torch", "torch-2.14.0+cpu-py3-none-any.whl", {"torch.py": ""})
    write_wheel(index / "cu126/torch", "torch-2.14.0+cu126-py3-none-any.whl", {"torch.py": ""}, ["small"])
    write_wheel(index / "cu126/small", "small-1.0-py3-none-any.whl", {"small.py": ""})
    return index


@pytest.fixture(params=["uv", "pip"])
def torch_environment(request: pytest.FixtureRequest, bench: Bench) -> tuple[Installer, Path]:
    """Return an installer and the index, for an environment in which PyTorch for the CPU is installed."""
    index, python = write_torch(bench), bench.python("torch", pip=True)
    bench.uv("pip", "install", "--python", python, *(index / "cpu/torch").iterdir())
    uv = uv_installer(python, str(find_uv()))
    return (uv if request.param == "uv" else pip_installer(python)), index


def test_torch_of_another_index_is_exchanged(bench: Bench, torch_environment: tuple[Installer, Path]) -> None:
    """Its version differs in the local part only, which installers take for the same; the user's index is not asked."""
    installer, index = torch_environment
    with serve_folder(index) as address:
        decision = Decision("torch", "cu126", ("torch==2.14.*",), (), index_url=f"{address}cu126")
        given = replace(installer, sources=("--index-url", f"{address}cpu"))
        steps = make_plan([decision], other_environment(installer.python), (), given, families=())
        with pytest.MonkeyPatch.context() as patch:
            for name, value in {**bench.environ, "UV_OFFLINE": "0"}.items():
                patch.setenv(name, value)
            for step in steps:
                run_installer(step)
            locked = resolve_group(decision, given).packages
    assert {package["name"]: package["version"] for package in locked} == {"torch": "2.14.0+cu126", "small": "1.0"}
    found = installed(installer.python)
    assert (found["torch"], found["small"]) == ("2.14.0+cu126", "1.0")


def test_torch_stays_while_its_index_cannot_be_reached(bench: Bench, torch_environment: tuple[Installer, Path]) -> None:
    """An environment that worked is not left empty."""
    installer, _ = torch_environment
    options = ("--python", installer.python, "--installer", installer.kind, "--machine", bench.machine("h100"))
    offline = replace(bench, more={"HTTPS_PROXY": "http://127.0.0.1:9", "PIP_RETRIES": "1"})
    said = offline.select("install", "torch", *options, status=4)
    assert "error: the package index cannot be reached" in said
    assert installed(installer.python)["torch"] == "2.14.0+cpu"


def test_an_index_without_the_package(bench: Bench) -> None:
    """That is another error than a network that is down; a group nobody asked for is left out with a warning."""
    options = bench.target(bench.python("empty"), "h100")
    said = bench.select("lock", "jax", "-o", "pylock.toml", *options)
    (line,) = (line for line in said.splitlines() if line.startswith("warning: no groups "))
    assert lacking(line, "tpu", "cuda13-cc100") == []
    groups = tomllib.loads((bench.folder / "pylock.toml").read_text())["dependency-groups"]
    assert groups == ["cuda13", "cuda12", "cuda12-legacy", "cpu"]
    said = bench.select("lock", "jax", "--backend", "tpu", "--groups", "cpu", *options, status=4)
    assert "error: the package index does not have what is wanted" in said
