# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What `jaxlib-select doctor` predicts is what JAX does: each environment is examined, then JAX itself is started."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from folders import site_packages_of, write_dist_info, write_files
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.release.model import Release
from select_commands import lacking

pytestmark = pytest.mark.integration

PLUGIN = "jaxlib_cpu/pjrt_c_api_cpu_plugin.so"

CPU = {"os": "linux", "arch": "x86_64"}
H100 = {**CPU, "nvidia": {"cuda": "13.0", "cuinit": 0, "gpus": [{"name": "H100", "compute_capability": "9.0"}]}}

Site = Path
Change = Callable[[Site], object]
Doctor = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def python(make_environment: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment that tests may damage, as long as they fix it."""
    return make_environment(tmp_path_factory.mktemp("doctor"))


@pytest.fixture
def site(python: Path, tmp_path: Path) -> Iterator[Site]:
    """Return its `site-packages`; what is small in the packages of the wheels is put back afterwards."""
    folder = site_packages_of(python)
    patterns = ("/*.json", ".dist-info/*.txt", "/__init__.py", "/pjrt/*.py", "/pjrt/*.so")
    small = [path for pattern in patterns for path in folder.glob(f"jaxlib*{pattern}")]
    for path in small:
        kept = tmp_path / path.relative_to(folder)
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, kept)
    before = set(folder.iterdir())
    yield folder
    for path in set(folder.iterdir()) - before:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in small:
        shutil.copy2(tmp_path / path.relative_to(folder), path)


@pytest.fixture
def doctor(python: Path, root: Path, tmp_path: Path) -> Doctor:
    """Return a function: environment variables → the report of `doctor --import` and its exit status."""

    def run(machine: dict[str, Any] | None = None, **variables: str) -> dict[str, Any]:
        description = tmp_path / "machine.json"
        description.write_text(json.dumps(machine or CPU))
        options = ["doctor", "--import", "--json", "--python", str(python), "--machine", str(description)]
        environ = clean_environ(PYTHONPATH=str(root / "selector")) | variables
        command = [sys.executable, "-m", "jaxlib_select", *options]
        result = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
        assert result.returncode in {0, 1}, result.stderr
        report: dict[str, Any] = json.loads(result.stdout)
        return {**report, "status": result.returncode, "codes": [finding["code"] for finding in report["findings"]]}

    return run


def lose(pattern: str) -> Change:
    """Take one file away."""
    return lambda site: next(site.glob(pattern)).unlink()


def change_lock(site: Site) -> None:
    """Make jaxlib one of another build."""
    lock = site / "jaxlib/release_lock.json"
    lock.write_text(json.dumps({**json.loads(lock.read_text()), "lock_id": "f" * 32}))


def announce_nothing(site: Site) -> None:
    """Leave metadata of a plugin whose files are gone."""
    write_dist_info(site, "jaxlib-gone", "1", entry_points="[jax_plugins]\nx = jaxlib_gone\n")


def let_plugin_raise(site: Site) -> None:
    """Damage the plugin in a way that only who imports it sees."""
    with (site / "jaxlib_cpu/__init__.py").open("a") as file:
        file.write("raise ImportError('boom')\n")


PLUGIN_OF_OTHERS = """
import pathlib


def initialize():
    from jax._src import xla_bridge

    library = pathlib.Path(__file__).parent / 'plugin.so'
    xla_bridge.register_plugin('mine', priority=700, library_path=str(library))
"""


def add_foreign_plugin(site: Site) -> None:
    """Add somebody's plugin to the namespace package: the CPU's library under another name."""
    folder = write_files(site / "jax_plugins/mine", {"__init__.py": PLUGIN_OF_OTHERS})
    (folder / "plugin.so").symlink_to(site / PLUGIN)


CHANGES: dict[str, Change] = {
    "nothing": lambda _: None,
    "lock lost": lose("jaxlib/release_lock.json"),
    "another lock": change_lock,
    "metadata without files": announce_nothing,
    "not announced": lose("jaxlib_cpu-*.dist-info/entry_points.txt"),
    "extension lost": lose("jaxlib_cpu/pjrt/_pjrt.abi3.so"),
    "module lost": lose("jaxlib_cpu/pjrt/lock.py"),
    "import fails": let_plugin_raise,
    "another plugin": add_foreign_plugin,
}
LIBRARIES = "PJRT_NAMES_AND_LIBRARY_PATHS"


@pytest.mark.parametrize(
    ("change", "variable", "default", "codes"),
    [
        ("nothing", "", "cpu", "confirmed"),
        ("nothing", "JAX_PLATFORMS=gpu", None, "platforms jax-fails"),
        ("nothing", "JAX_PLATFORMS=cpu,cuda", "cpu", "confirmed"),
        ("nothing", "JAX_PLATFORMS=tpu,cpu", None, "platforms jax-fails"),
        ("nothing", "JAX_PLATFORMS=cpu, tpu", None, "platforms jax-fails"),
        ("nothing", "JAXLIB_CPU_DISABLE=1", "cpu", "switched-off confirmed"),
        ("nothing", f"{LIBRARIES}=nonsense", "cpu", "variable confirmed"),
        ("nothing", f"{LIBRARIES}=mine:/nowhere.so", None, "variable jax-fails"),
        ("nothing", f"{LIBRARIES}=mine:SITE/{PLUGIN}", "mine", "confirmed"),
        ("lock lost", "", None, "lock-mismatch jax-fails"),
        ("another lock", "", None, "lock-mismatch jax-fails"),
        ("metadata without files", "", "cpu", "plugin-gone confirmed"),
        ("not announced", "", "cpu", "confirmed"),
        ("extension lost", "", None, "extension-missing jax-fails"),
        ("module lost", "", "cpu", "files-missing confirmed"),
        ("import fails", "", "cpu", "plugin-fails confirmed"),
        ("another plugin", "", "mine", "confirmed"),
        ("another plugin", "JAX_PLATFORMS=cpu", "cpu", "platforms confirmed"),
    ],
)
def test_jax_does_what_was_predicted(
    site: Site, doctor: Doctor, change: str, variable: str, default: str | None, codes: str
) -> None:
    """The default platform, or that the first use of JAX fails; the findings end with what JAX itself said."""
    CHANGES[change](site)
    name, _, value = variable.replace("SITE", str(site)).partition("=")
    report = doctor(**({name: value} if name else {}))
    assert (report["default"], report["codes"]) == (default, codes.split())
    assert report["status"] == (1 if default is None or "files-missing" in codes else 0)


@contextmanager
def away(path: Path) -> Iterator[Path]:
    """Take something that is large away, and put it back afterwards."""
    kept = path.rename(path.with_name("jaxlib_kept"))
    try:
        yield kept
    finally:
        kept.replace(path)


def test_a_library_of_python_that_jax_needs(site: Site, doctor: Doctor) -> None:
    """Without it JAX cannot be imported, as predicted, and the command that brings it is known."""
    with away(site / "opt_einsum"):
        report = doctor()
    assert (report["codes"], report["status"]) == (["requirement-missing", "jax-fails"], 1)
    assert "opt-einsum" in report["findings"][0]["remedy"]


def test_a_gpu_without_its_package(doctor: Doctor, python: Path, release: Release) -> None:
    """JAX would silently run on the CPU: status 1, and the command that installs what belongs there."""
    report = doctor(H100)
    assert (report["silent_cpu"], report["status"], report["codes"]) == (True, 1, ["silent-cpu", "confirmed"])
    package = f"jaxlib-cuda-13[with-cuda]=={release.set_version}"
    assert lacking(report["findings"][0]["remedy"], str(python), package) == []


def test_a_truncated_library(site: Site, doctor: Doctor) -> None:
    """The plugin refuses before anything opens it, as predicted."""
    library = site / PLUGIN
    with away(library) as kept:
        library.write_bytes(kept.read_bytes()[:100_000])
        report = doctor()
    assert (report["default"], report["codes"], report["status"]) == (None, ["library-damaged", "jax-fails"], 1)


def test_it_looks_at_nothing_it_was_not_asked_to(doctor: Doctor, python: Path, release: Release) -> None:
    """The versions and the library of the environment it was given, not of the one it runs in."""
    report = doctor()
    (plugin,) = report["plugins"]
    assert (report["versions"]["jax"], plugin["libraries"]) == (
        release.version,
        [str(site_packages_of(python) / PLUGIN)],
    )
    assert Path(report["python"]).parent == python.parent
