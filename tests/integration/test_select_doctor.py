# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What `jaxlib-select doctor` predicts is what JAX does: each environment is examined, then JAX itself is started."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from folders import site_packages_of
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.release.model import Release

pytestmark = pytest.mark.integration

PLUGIN = "jaxlib_cpu/pjrt_c_api_cpu_plugin.so"

CPU = {"os": "linux", "arch": "x86_64"}
H100 = {**CPU, "nvidia": {"cuda": "13.0", "cuinit": 0, "gpus": [{"name": "H100", "compute_capability": "9.0"}]}}

Site = Path


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
def doctor(python: Path, root: Path, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Return a function: environment variables → the report of `doctor --import` and its exit status."""

    def run(machine: dict[str, Any] | None = None, **variables: str) -> dict[str, Any]:
        description = tmp_path / "machine.json"
        description.write_text(json.dumps(machine or CPU))
        program = "import sys; from jaxlib_select.cli import main; sys.exit(main())"
        options = ["doctor", "--import", "--json", "--python", str(python), "--machine", str(description)]
        environ = clean_environ(PYTHONPATH=str(root / "selector")) | variables
        command = [sys.executable, "-c", program, *options]
        result = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
        assert result.returncode in {0, 1}, result.stderr
        report: dict[str, Any] = json.loads(result.stdout)
        return {**report, "status": result.returncode, "codes": [finding["code"] for finding in report["findings"]]}

    return run


def leave(_: Site) -> None:
    """Change nothing."""


def remove_lock(site: Site) -> None:
    """Make jaxlib look like upstream's."""
    (site / "jaxlib/release_lock.json").unlink()


def change_lock(site: Site) -> None:
    """Make jaxlib one of another build."""
    lock = site / "jaxlib/release_lock.json"
    lock.write_text(json.dumps({**json.loads(lock.read_text()), "lock_id": "f" * 32}))


def announce_nothing(site: Site) -> None:
    """Leave metadata of a plugin whose files are gone."""
    folder = site / "jaxlib_gone-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: jaxlib-gone\nVersion: 1\n")
    (folder / "entry_points.txt").write_text("[jax_plugins]\nx = jaxlib_gone\n")


def forget_plugin(site: Site) -> None:
    """Take the plugin's announcement away."""
    next(site.glob("jaxlib_cpu-*.dist-info")).joinpath("entry_points.txt").unlink()


def lose_extension(site: Site) -> None:
    """Take away what opens the plugin's library."""
    (site / "jaxlib_cpu/pjrt/_pjrt.abi3.so").unlink()


def lose_module(site: Site) -> None:
    """Take away a module without which the plugin cannot be imported."""
    (site / "jaxlib_cpu/pjrt/lock.py").unlink()


def let_plugin_raise(site: Site) -> None:
    """Damage the plugin in a way that only who imports it sees."""
    with (site / "jaxlib_cpu/__init__.py").open("a") as file:
        file.write("raise ImportError('boom')\n")


def add_foreign_plugin(site: Site) -> None:
    """Add somebody's plugin to the namespace package: the CPU's library under another name."""
    folder = site / "jax_plugins/mine"
    folder.mkdir(parents=True)
    (folder / "plugin.so").symlink_to(site / PLUGIN)
    (folder / "__init__.py").write_text(
        "import pathlib\n\n\ndef initialize():\n    from jax._src import xla_bridge\n\n"
        "    library = pathlib.Path(__file__).parent / 'plugin.so'\n"
        "    xla_bridge.register_plugin('mine', priority=700, library_path=str(library))\n"
    )


@pytest.mark.parametrize(
    ("change", "variables", "default", "codes"),
    [
        (leave, {}, "cpu", ["confirmed"]),
        (leave, {"JAX_PLATFORMS": "cpu"}, "cpu", ["confirmed"]),
        (leave, {"JAX_PLATFORMS": "gpu"}, None, ["platforms", "jax-fails"]),
        (leave, {"JAX_PLATFORMS": "cuda"}, None, ["platforms", "jax-fails"]),
        (leave, {"JAX_PLATFORMS": "cpu,cuda"}, "cpu", ["confirmed"]),
        (leave, {"JAX_PLATFORMS": "tpu,cpu"}, None, ["platforms", "jax-fails"]),
        (leave, {"JAX_PLATFORMS": "cpu, tpu"}, None, ["platforms", "jax-fails"]),
        (leave, {"JAXLIB_CPU_DISABLE": "1"}, "cpu", ["switched-off", "confirmed"]),
        (leave, {"PJRT_NAMES_AND_LIBRARY_PATHS": "nonsense"}, "cpu", ["variable", "confirmed"]),
        (leave, {"PJRT_NAMES_AND_LIBRARY_PATHS": "mine:/nowhere.so"}, None, ["variable", "jax-fails"]),
        (leave, {"PJRT_NAMES_AND_LIBRARY_PATHS": f"mine:SITE/{PLUGIN}"}, "mine", ["confirmed"]),
        (remove_lock, {}, None, ["lock-mismatch", "jax-fails"]),
        (change_lock, {}, None, ["lock-mismatch", "jax-fails"]),
        (announce_nothing, {}, "cpu", ["plugin-gone", "confirmed"]),
        (forget_plugin, {}, "cpu", ["confirmed"]),
        (lose_extension, {}, None, ["extension-missing", "jax-fails"]),
        (lose_module, {}, "cpu", ["files-missing", "confirmed"]),
        (let_plugin_raise, {}, "cpu", ["plugin-fails", "confirmed"]),
        (add_foreign_plugin, {}, "mine", ["confirmed"]),
        (add_foreign_plugin, {"JAX_PLATFORMS": "cpu"}, "cpu", ["platforms", "confirmed"]),
    ],
)
def test_jax_does_what_was_predicted(
    site: Site,
    doctor: Callable[..., dict[str, Any]],
    change: Callable[[Site], None],
    variables: dict[str, str],
    default: str | None,
    codes: list[str],
) -> None:
    """The default platform, or that the first use of JAX fails; the findings end with what JAX itself said."""
    change(site)
    report = doctor(**{name: value.replace("SITE", str(site)) for name, value in variables.items()})
    assert (report["default"], report["codes"]) == (default, codes)
    assert report["status"] == (1 if default is None or "files-missing" in codes else 0)


def test_a_library_of_python_that_jax_needs(site: Site, doctor: Callable[..., dict[str, Any]]) -> None:
    """Without it JAX cannot be imported, as predicted, and the command that brings it is known."""
    kept = (site / "opt_einsum").rename(site / "jaxlib_kept")
    try:
        report = doctor()
    finally:
        kept.rename(site / "opt_einsum")
    assert (report["error"], report["codes"], report["status"]) == (
        "opt-einsum is not installed",
        ["requirement-missing", "jax-fails"],
        1,
    )
    assert "opt-einsum" in report["findings"][0]["remedy"]


def test_a_gpu_without_its_package(doctor: Callable[..., dict[str, Any]], python: Path, release: Release) -> None:
    """JAX would silently run on the CPU: status 1, and the command that installs what belongs there."""
    report = doctor(H100)
    assert (report["silent_cpu"], report["status"], report["codes"]) == (True, 1, ["silent-cpu", "confirmed"])
    remedy = report["findings"][0]["remedy"]
    assert str(python) in remedy
    assert f"jaxlib-cuda-13[with-cuda]=={release.set_version}" in remedy


def test_a_truncated_library(site: Site, doctor: Callable[..., dict[str, Any]]) -> None:
    """The plugin refuses before anything opens it, as predicted."""
    library = site / PLUGIN
    kept = library.with_suffix(".kept")
    library.rename(kept)
    try:
        library.write_bytes(kept.read_bytes()[:100_000])
        report = doctor()
    finally:
        kept.replace(library)
    assert (report["default"], report["codes"], report["status"]) == (None, ["library-damaged", "jax-fails"], 1)


def test_it_looks_at_nothing_it_was_not_asked_to(
    doctor: Callable[..., dict[str, Any]], python: Path, release: Release
) -> None:
    """The versions and the library of the environment it was given, not of the one it runs in."""
    report = doctor()
    assert report["versions"]["jax"] == release.version
    (plugin,) = report["plugins"]
    assert plugin["libraries"] == [str(next((python.parent.parent / "lib").glob(f"python3*/site-packages/{PLUGIN}")))]
    assert Path(report["python"]).parent == python.parent
    assert os.fspath(python.parent.parent) not in sys.path
