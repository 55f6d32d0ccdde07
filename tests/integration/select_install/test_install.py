# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Installing with `jaxlib-select` into environments that have something else already."""

import json
import sys
from pathlib import Path

import pytest

from pjrtwheel.environment.venv import find_uv
from select_bench import RELEASE, WANTED, Bench, backends

pytestmark = pytest.mark.integration


def test_a_uv_project_swaps_extras(bench: Bench) -> None:
    """One extra per backend; uv refuses two of them together, and swapping removes the other."""
    project = bench.folder / "project"
    project.mkdir()
    snippet = bench.select(
        "lock", "jax", "--format=uv", "--groups=cpu,cuda12", "--provider=ours", "--machine", bench.machine("h100")
    )
    python = bench.interpreter.version.rpartition(".")[0]
    head = f'[project]\nname = "mine"\nversion = "1"\nrequires-python = "=={python}.*"\ndependencies = []\n'
    index = f'\n[[tool.uv.index]]\nname = "here"\nurl = "{bench.wheels}"\nformat = "flat"\ndefault = true\n'
    (project / "pyproject.toml").write_text(f"{head}\n{snippet}{index}")
    # uv takes one version over all extras where one will do.
    for extra, wanted in {**WANTED, "cuda12": WANTED["cuda12-legacy"]}.items():
        bench.uv("sync", "--extra", extra, "--python", bench.interpreter.path, folder=project)
        assert (extra, backends(project / ".venv/bin/python")) == (extra, wanted)
    refused = bench.attempt(find_uv(), "sync", "--extra", "cpu", "--extra", "cuda13", folder=project)
    assert "incompatible with the declared conflicts" in refused.stderr


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_install_removes_other_backends(bench: Bench, installer: str) -> None:
    """`install jax` in an environment that had an accelerator's package."""
    python = bench.python("changed", pip=True)
    bench.uv("pip", "install", "--python", python, *bench.links(), "jax", "jaxlib-cuda-12[with-cuda]")
    assert "uninstall" in bench.select("install", "jax", *bench.target(python, "cpu", installer))
    assert backends(python) == WANTED["cpu"] | {"nvidia-cudnn-cu12": "9.28.0.1"}


@pytest.fixture(params=["uv", "pip"])
def stock_jax(request: pytest.FixtureRequest, bench: Bench) -> tuple[str | Path, ...]:
    """Return the options for an environment with JAX as it is published: the same versions, but jaxlib is another."""
    python = bench.python("stock", pip=True)
    (jaxlib,) = (path for path in bench.wheels.glob("jaxlib-*.whl") if "+" not in path.name)
    bench.uv("pip", "install", "--python", python, *bench.links(), "jax", jaxlib)
    assert backends(python) == {"jax": RELEASE, "jaxlib": f"{RELEASE}-none"}
    return bench.target(python, "cpu", request.param)


def test_install_replaces_a_jaxlib_that_is_not_ours(bench: Bench, stock_jax: tuple[str | Path, ...]) -> None:
    """What most people start from; installers take it for the same."""
    bench.select("install", "jax", *stock_jax)
    assert backends(bench.folder / "stock/bin/python") == WANTED["cpu"]


def test_apply_replaces_a_jaxlib_that_is_not_ours(bench: Bench, stock_jax: tuple[str | Path, ...]) -> None:
    """Only where it is needed: the second time it stays."""
    bench.select("lock", "jax", "--groups", "cpu", *stock_jax)
    bench.select("apply", *stock_jax)
    assert backends(bench.folder / "stock/bin/python") == WANTED["cpu"]
    assert "reinstall" not in bench.select("apply", "--dry-run", *stock_jax)


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_no_file_of_the_working_directory_is_run(bench: Bench, installer: str) -> None:
    """A working folder may have modules of any name: neither this program nor pip imports them."""
    python, folder = bench.python("clean", pip=True), bench.folder / "project"
    folder.mkdir()
    for name in ("jax", "json", "pip", "tomllib"):
        (folder / f"{name}.py").write_text(f"open({str(folder / 'marker')!r}, 'w')")
    target = bench.target(python, "cpu", installer)
    commands = ["resolve jax", "install --dry-run jax", "lock jax --groups cpu", "apply", "doctor --import"]
    for command in commands:
        options = target[2:4] if command.startswith("resolve") else target
        done = bench.attempt(sys.executable, "-m", "jaxlib_select", *command.split(), *options, folder=folder)
        assert (command, "Traceback" in done.stderr, (folder / "marker").exists()) == (command, False, False)
    assert backends(python) == WANTED["cpu"]


def test_the_real_jax_after_locking_and_applying(real_bench: Bench) -> None:
    """An environment with an accelerator's package becomes one in which JAX itself agrees with the doctor."""
    bench = real_bench
    python = bench.python("real")
    bench.uv("pip", "install", "--python", python, *bench.links(), "jax", "jaxlib-cuda-12", "flatbuffers")
    options = bench.target(python, "cpu")
    bench.select("lock", "jax", "--groups", "cuda13", *options)
    bench.select("apply", *options)
    assert backends(python) == WANTED["cpu"]
    report = json.loads(bench.select("doctor", "--python", python, "--json", "--import"))
    assert (report["default"], [finding["code"] for finding in report["findings"]]) == ("cpu", ["confirmed"])


def test_install_says_when_jax_would_be_silently_on_the_cpu(bench: Bench) -> None:
    """The package is a dummy here, and the doctor notices: exit status 1 after an installation that went well."""
    python = bench.python("silent")
    said = bench.select("install", "jax", *bench.target(python, "h100"), status=1)
    assert backends(python) == WANTED["cuda13"]
    assert "jaxlib-cuda-13 does not say what it finds" in said
