# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`jaxlib-select install`, `lock` and `apply` with the real uv and the real pip, on our wheels.

The machines are described by files. Most packages are small ones, made here with the names and the metadata of the real
ones: what installers do does not depend on their size. Where JAX runs, it is the real one with our real wheels.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from folders import site_packages_of
from jaxlib_select.apply.installer import Installer, pip_installer, run_installer, uv_installer
from jaxlib_select.apply.plan import make_plan
from jaxlib_select.apply.resolution import resolve_group
from jaxlib_select.choose.decision import Decision
from jaxlib_select.installed.environment import other_environment
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.environment.venv import create_venv, find_uv, requirement_group, wheelhouse
from pjrtwheel.fetch import cache_root
from pjrtwheel.release.lock import ReleaseLock
from pjrtwheel.release.model import Release
from pjrtwheel.wheel.names import parse_name
from release_under_test import release_under_test
from small_wheels import build_wheel, describe_wheel

pytestmark = pytest.mark.integration

MACHINES = {
    "cpu": {"os": "linux", "arch": "x86_64"},
    "h100": {
        "os": "linux",
        "arch": "x86_64",
        "nvidia": {"cuda": "13.0", "cuinit": 0, "gpus": [{"name": "H100", "compute_capability": "9.0"}]},
    },
    "gh200": {
        "os": "linux",
        "arch": "aarch64",
        "nvidia": {"cuda": "13.0", "cuinit": 0, "gpus": [{"name": "GH200", "compute_capability": "9.0"}]},
    },
    "gtx1080ti": {
        "os": "linux",
        "arch": "x86_64",
        "nvidia": {"cuda": "13.0", "cuinit": 0, "gpus": [{"name": "GTX 1080 Ti", "compute_capability": "6.1"}]},
    },
}


@dataclass(frozen=True)
class Bench:
    """Folders, and the commands under test.

    Attributes:
        folder: A fresh folder, for locks and environments.
        wheels: Every wheel there is: no index is asked.
        interpreter: For which Python.
        selector: The folder of the package under test.
        more: Further variables.
    """

    folder: Path
    wheels: Path
    interpreter: Interpreter
    selector: Path
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def environ(self) -> dict[str, str]:
        """Return an environment in which uv and pip know no index, and keep nothing of what they saw."""
        more = {"PIP_CONFIG_FILE": os.devnull, "UV_NO_CACHE": "1", "UV_OFFLINE": "1", **self.more}
        uv = find_uv()
        path = os.pathsep.join([*([str(uv.parent)] if uv else []), os.environ["PATH"]])
        return clean_environ(PYTHONPATH=str(self.selector), PATH=path, **more)

    def machine(self, name: str) -> Path:
        """Return the description of a machine."""
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(MACHINES[name]))
        return path

    def check(self, lock: Path, machine: str, status: int = 0) -> str:
        """Compare a lock with a machine and with the Python of the release."""
        options = ("--machine", self.machine(machine), "--python", self.interpreter.path)
        return self.select("lock", "--check", lock, *options, status=status)

    def python(self, name: str) -> Path:
        """Return the Python of a fresh environment."""
        return create_venv(self.interpreter, self.folder / name)

    def select(self, *arguments: str | Path, status: int = 0) -> str:
        """Run the command line under test in this Python, and return what it printed."""
        program = "import sys; from jaxlib_select.cli import main; sys.exit(main())"
        command = [sys.executable, "-c", program, *map(str, arguments)]
        result = subprocess.run(command, capture_output=True, text=True, check=False, env=self.environ, cwd=self.folder)
        assert result.returncode == status, result.stdout + result.stderr
        return result.stdout + result.stderr

    def links(self) -> tuple[str, ...]:
        """Return the options that lead to the wheels."""
        return ("--no-index", "--find-links", str(self.wheels))

    def run(self, *command: str | Path, folder: Path | None = None) -> str:
        """Run uv, pip or Python."""
        result = subprocess.run(
            list(map(str, command)),
            capture_output=True,
            text=True,
            check=False,
            env=self.environ,
            cwd=folder or self.folder,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def uv(self, *arguments: str | Path, folder: Path | None = None) -> str:
        """Run uv."""
        return self.run(find_uv() or "uv", *arguments, folder=folder)

    def pip(self, python: Path, *arguments: str | Path) -> str:
        """Run the pip of this Python on behalf of an environment."""
        return self.run(sys.executable, "-m", "pip", "--python", python, "--no-input", *arguments)


def installed(python: Path) -> dict[str, str]:
    """Return the versions of what is installed in an environment, jaxlib's with its lock's build."""
    site = site_packages_of(python)
    names = [path.name.removesuffix(".dist-info").split("-") for path in site.glob("*.dist-info")]
    found = {name.replace("_", "-"): version for name, version in names}
    if "jaxlib" in found:
        lock = site / "jaxlib/release_lock.json"
        found["jaxlib"] += f"-{json.loads(lock.read_text())['build']}" if lock.exists() else "-none"
    return found


def write_wheel(folder: Path, name: str, files: Mapping[str, str], requires: Sequence[str] = ()) -> None:
    """Write a wheel with RECORD and metadata."""
    members = {path: text.encode() for path, text in files.items()}
    build_wheel(folder, {**members, **describe_wheel(name, requires)}, name=name)


def write_gpu_wheels(folder: Path, version: str, lock: str) -> None:
    """Write small packages with the names and metadata of those for CUDA, and of the NVIDIA packages they ask for."""
    for major, cudnn in (("12", "nvidia-cudnn-cu12>=9.8,<10"), ("13", "nvidia-cublas>=13.0,<14")):
        package = f"jaxlib_cuda_{major}"
        files = {
            f"{package}/__init__.py": "def initialize(): pass\n",
            f"{package}/release_lock.json": lock,
            f"{package}-{version}.dist-info/entry_points.txt": f"[jax_plugins]\ncuda{major} = {package}\n",
        }
        requires = [f"jaxlib=={version}", f"{cudnn}; extra == 'with-cuda'"]
        write_wheel(folder, f"{package}-{version}-cp312-abi3-manylinux_2_27_x86_64.whl", files, requires)
    for name in ("nvidia_cudnn_cu12-9.10.2.21", "nvidia_cudnn_cu12-9.28.0.1", "nvidia_cublas-13.1.0.3"):
        write_wheel(folder, f"{name}-py3-none-manylinux_2_27_x86_64.whl", {f"nvidia/{name}.txt": ""})


def write_jax_wheels(folder: Path, release: str, version: str, tag: str, lock: str) -> None:
    """Write a small JAX, and two jaxlibs of one release: ours with a label and a lock, upstream's without."""
    minimum = {"jax/version.py": f'_minimum_jaxlib_version = "{release}"\n'}
    write_wheel(folder, f"jax-{release}-py3-none-any.whl", minimum, [f"jaxlib<={release},>={release}", "ml_dtypes"])
    write_wheel(folder, "ml_dtypes-0.6.0-py3-none-any.whl", {"ml_dtypes/__init__.py": ""})
    upstream = {"jaxlib/__init__.py": ""}
    ours = {**upstream, "jaxlib/release_lock.json": lock}
    write_wheel(folder, f"jaxlib-{version}-{tag}-{tag}-manylinux_2_27_x86_64.whl", ours)
    write_wheel(folder, f"jaxlib-{release}-{tag}-{tag}-manylinux_2_27_x86_64.whl", upstream)
    write_wheel(
        folder,
        f"jaxlib_cpu-{version}-cp312-abi3-manylinux_2_27_x86_64.whl",
        {"jaxlib_cpu/release_lock.json": lock},
        [f"jaxlib=={version}"],
    )


@pytest.fixture(scope="session")
def small_wheels(release: Release, interpreter: Interpreter, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with small packages for everything."""
    folder = tmp_path_factory.mktemp("small wheels")
    version = release.set_version
    lock = ReleaseLock(release.version, version, 1, "none", "0" * 32).to_json()
    write_jax_wheels(folder, release.version, version, interpreter.tag, lock)
    write_gpu_wheels(folder, version, lock)
    return folder


@pytest.fixture(scope="session")
def real_wheels(
    built_wheels: Path, root: Path, release: Release, interpreter: Interpreter, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return a folder with our real wheels, everything they need, and small accelerator packages."""
    folder = tmp_path_factory.mktemp("real wheels")
    ours = [wheel for wheel in built_wheels.glob("*.whl") if parse_name(wheel.name).fits(interpreter.tag)]
    ours = [wheel for wheel in ours if wheel.name.startswith(("jaxlib-", "jaxlib_cpu-"))]
    requirements = [f"jax=={release.version}", *requirement_group(root, "smoke")]
    required = wheelhouse(interpreter, requirements, ours, cache_root(os.environ))
    for wheel in (*ours, *required.glob("*.whl")):
        (folder / wheel.name).symlink_to(wheel.resolve())
    with zipfile.ZipFile(next(wheel for wheel in ours if wheel.name.startswith("jaxlib_cpu-"))) as archive:
        lock = archive.read("jaxlib_cpu/release_lock.json").decode()
    write_gpu_wheels(folder, release.set_version, lock)
    return folder


@pytest.fixture(scope="session")
def selector(root: Path, release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the package under test that knows one release, whatever was built since."""
    copy = tmp_path_factory.mktemp("selector") / "selector"
    shutil.copytree(root / "selector", copy, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (copy / "jaxlib_select/facts").glob("[0-9]*.json"):
        if path.stem != release.version:
            path.unlink()
    return copy


@pytest.fixture
def bench(small_wheels: Path, interpreter: Interpreter, selector: Path, tmp_path: Path) -> Bench:
    """Return a fresh bench with small packages."""
    return Bench(tmp_path, small_wheels, interpreter, selector)


@pytest.fixture
def real_bench(real_wheels: Path, bench: Bench) -> Bench:
    """Return a fresh bench with our real wheels."""
    return replace(bench, wheels=real_wheels)


@pytest.fixture(params=["uv", "pip"])
def locked(request: pytest.FixtureRequest, bench: Bench) -> Path:
    """Return a lock for an H100 and for other machines, resolved by uv and by pip."""
    python = bench.python("resolving")
    if request.param == "pip":
        bench.pip(python, "install", "--quiet", "--no-index", *_wheel_of_pip(bench))
    target: tuple[str | Path, ...] = ("--python", python, "--installer", request.param, *bench.links())
    said = bench.select(
        "lock", "jax", "--machine", bench.machine("h100"), "--groups", "cpu,cuda12", "-o", "pylock.toml", *target
    )
    assert "pylock.toml: cuda13 by default" in said
    assert f"resolving cuda12-legacy with {request.param} ..." in said
    assert ("note: pip" in said) == (request.param == "pip")
    return bench.folder / "pylock.toml"


def _wheel_of_pip(bench: Bench) -> tuple[str, ...]:
    """Return the wheel of pip that every Python brings."""
    (wheel,) = (bench.interpreter.path.parent.parent / "lib").glob("python3*/ensurepip/_bundled/pip-*.whl")
    return (str(wheel),)


RELEASE = release_under_test().version
VERSION = release_under_test().set_version
JAX = {"jax": RELEASE, "jaxlib": f"{VERSION}-1"}
BACKENDS = ("jax", "jaxlib", "jaxlib-cpu", "jaxlib-cuda-12", "jaxlib-cuda-13", "nvidia-cublas", "nvidia-cudnn-cu12")
WANTED = {
    "cuda13": JAX | {"jaxlib-cuda-13": VERSION, "nvidia-cublas": "13.1.0.3"},
    "cuda12": JAX | {"jaxlib-cuda-12": VERSION, "nvidia-cudnn-cu12": "9.28.0.1"},
    "cuda12-legacy": JAX | {"jaxlib-cuda-12": VERSION, "nvidia-cudnn-cu12": "9.10.2.21"},
    "cpu": JAX | {"jaxlib-cpu": VERSION},
}


def backends(python: Path) -> dict[str, str]:
    """Return what of JAX and its backends is installed."""
    return {name: version for name, version in installed(python).items() if name in BACKENDS}


def test_uv_and_pip_install_every_group_of_a_lock(bench: Bench, locked: Path) -> None:
    """The decision by default, another backend by its group; the lock made for a GPU serves a machine without."""
    for tool in ("uv", "pip"):
        for group, wanted in WANTED.items():
            python = bench.python(f"{tool} {group}")
            by_default = group == "cuda13"
            if tool == "uv":
                bench.uv(
                    "pip", "install", "--python", python, "-r", locked, *(() if by_default else ("--group", group))
                )
            else:
                asked: tuple[str | Path, ...] = ("-r", locked) if by_default else ("--group", f"{locked}:{group}")
                bench.pip(python, "install", "--no-index", *asked)
            assert backends(python) == wanted


def test_a_wrong_hash_is_refused(bench: Bench, locked: Path) -> None:
    """The hashes in the lock are those of the files."""
    document = tomllib.loads(locked.read_text())
    (jaxlib,) = (entry for entry in document["packages"] if entry["name"] == "jaxlib")
    (wheel,) = jaxlib["wheels"]
    locked.write_text(locked.read_text().replace(wheel["hashes"]["sha256"], "0" * 64))
    python = bench.python("refused")
    command = [find_uv() or "uv", "pip", "install", "--python", str(python), "-r", str(locked)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=bench.environ)
    assert (result.returncode, "Hash mismatch" in result.stderr) == (1, True)
    assert "changed by hand" in bench.check(locked, "h100", status=1)


def test_lock_check(bench: Bench, locked: Path) -> None:
    """The machine it was made for agrees; one without GPU gets the group to apply."""
    assert "agree: cuda13" in bench.check(locked, "h100")
    said = bench.check(locked, "cpu", status=1)
    assert f"run: jaxlib-select apply {locked} --group cpu" in said
    said = bench.check(locked, "gtx1080ti", status=1)
    assert f"run: jaxlib-select apply {locked} --group cuda12-legacy" in said
    assert "it holds for linux_x86_64, not for linux_aarch64" in bench.check(locked, "gh200", status=1)


@pytest.mark.parametrize("name", ["pylock.toml", "requirements.txt"])
def test_the_command_that_writes_a_lock_again(bench: Bench, name: str) -> None:
    """It can be pasted as it is: it names the groups and the folders, of which one is next to the lock file."""
    next_to = bench.folder / "my wheels"
    next_to.symlink_to(bench.wheels)
    target: tuple[str | Path, ...] = ("--machine", bench.machine("cpu"), "--python", bench.interpreter.path)
    bench.select("lock", "jax", "-o", name, "--groups", "cuda12", "--no-index", "--find-links", "my wheels", *target)
    lock = bench.folder / name
    written = lock.read_text()
    lock.write_text(written.replace("0.6.0", "0.6.1"))
    said = bench.select("lock", "--check", name, *target, status=1)
    again = shlex.split(said.splitlines()[0].partition("write it again: ")[2])
    assert again[:4] == ["jaxlib-select", "lock", "jax", "--groups"]
    bench.select(*again[1:], *target)
    assert lock.read_text() == written


def test_a_lock_holds_for_one_platform_and_one_python(bench: Bench, locked: Path) -> None:
    """The check, `apply`, uv and pip refuse it for another Python; none is written for another platform."""
    misfit = "it holds for Python 3.12, not for 3.11"
    here: tuple[str | Path, ...] = ("--machine", bench.machine("h100"), "--python", sys.executable)
    assert misfit in bench.select("lock", "--check", locked, *here, status=1)
    assert misfit in bench.select("apply", locked, "--dry-run", *here, status=2)
    other = bench.folder / "other"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(other)], check=True)
    target = ("--python", other / "bin/python")
    for program, status in (
        ((find_uv() or "uv", "pip", "install", *target), 2),
        ((sys.executable, "-m", "pip", *target, "install", "--no-index"), 1),
    ):
        command = [*map(str, program), "-r", str(locked)]
        refused = subprocess.run(command, capture_output=True, text=True, check=False, env=bench.environ)
        assert (refused.returncode, "==3.12.*" in refused.stderr) == (status, True), refused.stderr
    said = bench.select(
        "lock", "jax", "--machine", bench.machine("gh200"), "--python", bench.interpreter.path, status=2
    )
    assert "error: the machine is Linux on aarch64, but the wheels would be for linux_x86_64" in said


def test_apply_swaps_the_backend(bench: Bench, locked: Path) -> None:
    """From CUDA 13 to the CPU in one environment: the other backend is removed."""
    python = bench.python("swapped")
    bench.uv("pip", "install", "--python", python, "-r", locked)
    bench.select("apply", locked, "--group", "cpu", "--python", python, "--machine", bench.machine("cpu"))
    assert backends(python) == WANTED["cpu"] | {"nvidia-cublas": "13.1.0.3"}


def test_apply_with_the_oldest_pip_at_hand(bench: Bench, locked: Path) -> None:
    """It cannot read the lock, and gets the same as a requirements file with hashes."""
    python = bench.python("old")
    bench.pip(python, "install", "--quiet", "--no-index", *_wheel_of_pip(bench))
    options: tuple[str | Path, ...] = ("--installer", "pip", "--python", python, "--machine", bench.machine("cpu"))
    bench.select("apply", locked, "--group", "cpu", *options, "--no-index")
    assert backends(python) == WANTED["cpu"]


@pytest.mark.parametrize("machine", ["h100", "cpu", "gtx1080ti"])
def test_a_requirements_file_for_every_tool(bench: Bench, machine: str) -> None:
    """Pinned with hashes; the old GPU gets a cuDNN that still has code for it."""
    wanted = {
        "h100": WANTED["cuda13"],
        "cpu": WANTED["cpu"],
        "gtx1080ti": WANTED["cuda12-legacy"],
    }
    python = bench.python("resolving")
    options: tuple[str | Path, ...] = ("--machine", bench.machine(machine), "--python", python, *bench.links())
    bench.select("lock", "jax", "-o", "requirements.txt", *options)
    bench.check(bench.folder / "requirements.txt", machine)
    with_uv, with_pip = bench.python("with uv"), bench.python("with pip")
    bench.uv("pip", "install", "--python", with_uv, "--require-hashes", "-r", "requirements.txt")
    bench.pip(with_pip, "install", "-r", bench.folder / "requirements.txt")
    assert (backends(with_uv), backends(with_pip)) == (wanted[machine], wanted[machine])


def test_a_uv_project_swaps_extras(bench: Bench) -> None:
    """One extra per backend; uv refuses two of them together, and swapping removes the other."""
    project = bench.folder / "project"
    project.mkdir()
    machine: tuple[str | Path, ...] = ("--machine", bench.machine("h100"))
    snippet = bench.select("lock", "jax", "--format", "uv", "--groups", "cpu,cuda12", *machine)
    version = bench.interpreter.version.split(".")
    python = ".".join(version[:2])
    head = f'[project]\nname = "mine"\nversion = "1"\nrequires-python = "=={python}.*"\ndependencies = []\n'
    index = f'\n[[tool.uv.index]]\nname = "here"\nurl = "{bench.wheels}"\nformat = "flat"\ndefault = true\n'
    (project / "pyproject.toml").write_text(f"{head}\n{snippet}{index}")
    select_python = ("--python", bench.interpreter.path)
    # uv takes one version over all extras where one will do.
    for extra, wanted in {**WANTED, "cuda12": WANTED["cuda12-legacy"]}.items():
        bench.uv("sync", "--extra", extra, *select_python, folder=project)
        assert (extra, backends(project / ".venv/bin/python")) == (extra, wanted)
    command = [find_uv() or "uv", "sync", "--extra", "cpu", "--extra", "cuda13"]
    refused = subprocess.run(command, capture_output=True, text=True, check=False, env=bench.environ, cwd=project)
    assert "incompatible with the declared conflicts" in refused.stderr


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_install_removes_other_backends(bench: Bench, installer: str) -> None:
    """`install jax` in an environment that had an accelerator's package."""
    python = bench.python("changed")
    bench.pip(python, "install", "--quiet", "--no-index", *_wheel_of_pip(bench))
    bench.uv("pip", "install", "--python", python, *bench.links(), "jax", "jaxlib-cuda-12[with-cuda]")
    options: tuple[str | Path, ...] = (
        "--python",
        python,
        "--installer",
        installer,
        "--machine",
        bench.machine("cpu"),
        *bench.links(),
    )
    assert "uninstall" in bench.select("install", "jax", *options)
    assert backends(python) == WANTED["cpu"] | {"nvidia-cudnn-cu12": "9.28.0.1"}


@pytest.fixture(params=["uv", "pip"])
def stock_jax(request: pytest.FixtureRequest, bench: Bench) -> tuple[str | Path, ...]:
    """Return the options for an environment with JAX as it is published: the same versions, but jaxlib is another."""
    python = bench.python("stock")
    bench.pip(python, "install", "--quiet", "--no-index", *_wheel_of_pip(bench))
    (jaxlib,) = (path for path in bench.wheels.glob("jaxlib-*.whl") if "+" not in path.name)
    bench.uv("pip", "install", "--python", python, *bench.links(), "jax", jaxlib)
    assert backends(python) == {"jax": RELEASE, "jaxlib": f"{RELEASE}-none"}
    return ("--python", python, "--installer", request.param, "--machine", bench.machine("cpu"), *bench.links())


def test_install_replaces_a_jaxlib_that_is_not_ours(bench: Bench, stock_jax: tuple[str | Path, ...]) -> None:
    """What most people start from; installers take it for the same."""
    bench.select("install", "jax", *stock_jax)
    assert backends(bench.folder / "stock/bin/python") == WANTED["cpu"]


@pytest.mark.parametrize("name", ["pylock.toml", "requirements.txt"])
def test_apply_replaces_a_jaxlib_that_is_not_ours(bench: Bench, stock_jax: tuple[str | Path, ...], name: str) -> None:
    """From every form of a lock, and only where it is needed: the second time it stays."""
    bench.select("lock", "jax", "-o", name, *(() if name.endswith(".txt") else ("--groups", "cpu")), *stock_jax)
    bench.select("apply", name, *stock_jax)
    assert backends(bench.folder / "stock/bin/python") == WANTED["cpu"]
    said = bench.select("apply", name, "--dry-run", *stock_jax)
    assert "reinstall" not in said


def test_the_real_jax_after_locking_and_applying(real_bench: Bench) -> None:
    """An environment with an accelerator's package becomes one in which JAX itself agrees with the doctor."""
    bench = real_bench
    python = bench.python("real")
    bench.uv("pip", "install", "--python", python, *bench.links(), "jax", "jaxlib-cuda-12", "flatbuffers")
    options: tuple[str | Path, ...] = ("--python", python, "--machine", bench.machine("cpu"), *bench.links())
    bench.select("lock", "jax", "--groups", "cuda13", *options)
    bench.select("apply", *options)
    assert backends(python) == WANTED["cpu"]
    report = json.loads(bench.select("doctor", "--python", python, "--json", "--import"))
    assert (report["default"], [finding["code"] for finding in report["findings"]]) == ("cpu", ["confirmed"])


def test_install_says_when_jax_would_be_silently_on_the_cpu(bench: Bench) -> None:
    """The package is a dummy here, and the doctor notices: exit status 1 after an installation that went well."""
    python = bench.python("silent")
    options: tuple[str | Path, ...] = ("--python", python, "--machine", bench.machine("h100"), *bench.links())
    said = bench.select("install", "jax", *options, status=1)
    assert backends(python) == WANTED["cuda13"]
    assert "jaxlib-cuda-13 has no PJRT library" in said


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_an_index_that_cannot_be_reached(bench: Bench, installer: str) -> None:
    """Three lines, exit status 4, and no lock is left behind."""
    with socket.socket() as taken:  # a port on which nobody listens
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/simple"
        python = bench.python("unreachable")
        bench.pip(python, "install", "--quiet", "--no-index", *_wheel_of_pip(bench))
        bench_environ: Mapping[str, str] = {
            **bench.environ,
            "PIP_RETRIES": "1",
            "UV_OFFLINE": "0",
            "UV_HTTP_RETRIES": "0",
        }
        options = ["--python", str(python), "--installer", installer, "--index-url", url, "--groups", "cpu"]
        program = "import sys; from jaxlib_select.cli import main; sys.exit(main())"
        result = subprocess.run(
            [sys.executable, "-c", program, "lock", "jax", *options],
            capture_output=True, text=True, check=False, env=bench_environ, cwd=bench.folder,
        )  # fmt: skip
    assert result.returncode == 4
    assert "error: the package index cannot be reached" in result.stderr
    assert not (bench.folder / "pylock.toml").exists()


def write_indexes(bench: Bench) -> Path:
    """Write two indexes: ours, and one as the public one is, with JAX's own jaxlib of the same release."""
    root = bench.folder / "indexes"
    for wheel in bench.wheels.glob("*.whl"):
        parts = wheel.name.split("-")
        public = "+" not in parts[1]
        place = root / ("public" if public else "ours") / parts[0].replace("_", "-") / wheel.name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(wheel)
    return root


@pytest.mark.parametrize("installer", ["uv", "pip"])
@pytest.mark.parametrize("main", ["ours", "public"])
def test_ours_is_taken_from_two_indexes_in_any_order(
    bench: Bench, serve: Callable[..., AbstractContextManager[str]], installer: str, main: str
) -> None:
    """Left alone, uv would take JAX's own jaxlib from the extra index, and it serves no package of ours."""
    python = bench.python("new")
    bench.pip(python, "install", "--quiet", "--no-index", *_wheel_of_pip(bench))
    online = replace(bench, more={"UV_OFFLINE": "0"})
    target = ("--python", python, "--installer", installer, "--machine", bench.machine("cpu"))
    extra = {"ours": "public", "public": "ours"}[main]
    with serve(write_indexes(bench)) as address:
        where = ("--index-url", f"{address}{main}", "--extra-index-url", f"{address}{extra}")
        online.select("lock", "jax", "--groups", "cpu", *target, *where)
        packages = tomllib.loads((bench.folder / "pylock.toml").read_text())["packages"]
        online.select("install", "jax", *target, *where)
        again = bench.python("again")
        bench.pip(again, "install", "--quiet", "--no-index", *_wheel_of_pip(bench))
        online.select("apply", *target, "--python", again)  # the lock knows the indexes
    (jaxlib,) = (package for package in packages if package["name"] == "jaxlib")
    assert ["%2B" in wheel["url"] or "+" in wheel["url"] for wheel in jaxlib["wheels"]] == [True]
    assert (backends(python), backends(again)) == (WANTED["cpu"], WANTED["cpu"])


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_jaxs_own_jaxlib_is_neither_installed_nor_locked(
    bench: Bench, serve: Callable[..., AbstractContextManager[str]], installer: str
) -> None:
    """Where the only index with a jaxlib has JAX's own: nothing is changed, and the message says what is missing."""
    python, index = bench.python("new"), write_indexes(bench)
    bench.pip(python, "install", "--quiet", "--no-index", *_wheel_of_pip(bench))
    online = replace(bench, more={"UV_OFFLINE": "0"})
    (index / "ours/jaxlib-cpu").rename(index / "public/jaxlib-cpu")
    target = ("--python", python, "--installer", installer, "--machine", bench.machine("cpu"))
    with serve(index) as address:
        where = ("--index-url", f"{address}public")
        locked = online.select("lock", "jax", "-o", "requirements.txt", *target, *where, status=4)
        if installer == "uv":
            assert online.select("install", "jax", *target, *where, status=4) == locked
            assert backends(python) == {}
    assert ": --find-links DIR, or --extra-index-url URL" in locked
    assert not (bench.folder / "requirements.txt").exists()


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
    index, python = write_torch(bench), bench.python("torch")
    bench.pip(python, "install", "--quiet", "--no-index", *_wheel_of_pip(bench))
    bench.uv("pip", "install", "--python", python, *(index / "cpu/torch").iterdir())
    uv = uv_installer(python, str(find_uv() or "uv"))
    return (uv if request.param == "uv" else pip_installer(python)), index


def test_torch_of_another_index_is_exchanged(
    bench: Bench, torch_environment: tuple[Installer, Path], serve: Callable[..., AbstractContextManager[str]]
) -> None:
    """Its version differs in the local part only, which installers take for the same; the user's index is not asked."""
    installer, index = torch_environment
    with serve(index) as address:
        decision = Decision("torch", "cu126", ("torch==2.14.*",), (), index_url=f"{address}cu126")
        mine = ("--index-url", f"{address}cpu")
        steps = make_plan([decision], other_environment(installer.python), (), installer, mine, families=())
        with pytest.MonkeyPatch.context() as patch:
            for name, value in {**bench.environ, "UV_OFFLINE": "0"}.items():
                patch.setenv(name, value)
            for step in steps:
                run_installer(step)
            locked = resolve_group(decision, installer, mine).packages
    assert {package["name"]: package["version"] for package in locked} == {"torch": "2.14.0+cu126", "small": "1.0"}
    found = installed(installer.python)
    assert (found["torch"], found["small"]) == ("2.14.0+cu126", "1.0")


def test_torch_stays_while_its_index_cannot_be_reached(bench: Bench, torch_environment: tuple[Installer, Path]) -> None:
    """An environment that worked is not left empty."""
    installer, _ = torch_environment
    options = ("--python", installer.python, "--installer", installer.kind, "--machine", bench.machine("h100"))
    said = replace(bench, more={"HTTPS_PROXY": "http://127.0.0.1:9", "PIP_RETRIES": "1"}).select(
        "install", "torch", *options, status=4
    )
    assert "error: the package index cannot be reached" in said
    assert installed(installer.python)["torch"] == "2.14.0+cpu"


def test_an_index_without_the_package(bench: Bench) -> None:
    """That is another error than a network that is down; a group nobody asked for is left out with a warning."""
    options: tuple[str | Path, ...] = ("--python", bench.python("empty"), *bench.links())
    said = bench.select("lock", "jax", "--machine", bench.machine("h100"), "-o", "pylock.toml", *options)
    assert "warning: no group tpu: the package index does not have what is wanted" in said
    assert "warning: no group cuda13-cc100: the package index does not have what is wanted" in said
    groups = tomllib.loads((bench.folder / "pylock.toml").read_text())["dependency-groups"]
    assert groups == ["cuda13", "cuda12", "cuda12-legacy", "cpu"]
    wanted: tuple[str | Path, ...] = ("--backend", "tpu", "--groups", "cpu")
    said = bench.select("lock", "jax", "--machine", bench.machine("h100"), *wanted, *options, status=4)
    assert "error: the package index does not have what is wanted" in said


@pytest.fixture
def build_select(bench: Bench) -> Callable[[], Path]:
    """Return a function: → the command `jaxlib-select` in an environment of its own, from its wheel."""

    def build() -> Path:
        python = bench.python("select")
        result = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps"),
                str(bench.selector),
            ],
            capture_output=True,
            text=True,
            check=False,
            env=clean_environ(),
        )
        assert result.returncode == 0, result.stderr
        return python.parent / "jaxlib-select"

    return build


def test_the_installed_command_runs(build_select: Callable[[], Path], bench: Bench) -> None:
    """As users have it: from its wheel, on the Python of the release, without anything else."""
    command = build_select()
    said = bench.run(command, "resolve", "jax", "--machine", bench.machine("h100"))
    assert f"jaxlib-cuda-13[with-cuda]=={VERSION}" in said
    assert installed(command.parent / "python").keys() == {"jaxlib-select"}
