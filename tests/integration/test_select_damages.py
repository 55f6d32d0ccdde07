# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Wheels for CUDA 13, ours and JAX's own, with all that NVIDIA publishes, damaged one way after the other.

The doctor examines each environment, and JAX is started in it. NVIDIA's libraries are the real ones, some gigabytes
from the package index; only the driver's answers are made up.
"""

import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from folders import site_packages_of, write_files
from jaxlib_select.apply.installer import uv_installer
from jaxlib_select.doctor.choice import Surroundings, decide
from jaxlib_select.doctor.examine import examine, facts_for
from jaxlib_select.facts import OURS, UPSTREAM
from jaxlib_select.installed.environment import other_environment
from machines import H100
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.environment.venv import create_venv, find_uv
from pjrtwheel.release.model import Release

pytestmark = [pytest.mark.integration, pytest.mark.slow]

DATA = Path(__file__).parents[1] / "data"
ROWS: list[tuple[str, dict[str, Any]]] = [
    (provider, row)
    for provider in (UPSTREAM, OURS)
    for row in tomllib.loads((DATA / f"doctor_{provider}.toml").read_text("utf-8"))["row"]
]


@pytest.fixture(scope="module")
def make_python(
    interpreter: Interpreter,
    release: Release,
    backend_wheels: Callable[[str], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], Path]:
    """Return a function: whose wheels → the Python of an environment with these and all of NVIDIA's libraries."""
    made: dict[str, Path] = {}

    def make(provider: str) -> Path:
        if provider not in made:
            made[provider] = create_venv(interpreter, tmp_path_factory.mktemp(provider) / "venv")
            wanted = [f"jax[cuda13]=={release.version}"]
            if provider == OURS:
                ours = f"jaxlib-cuda-13[with-cuda]=={release.set_version}"
                wanted = [f"jax=={release.version}", ours, "--find-links", str(backend_wheels("cuda13"))]
            command = [str(find_uv()), "pip", "install", "--quiet", "--python", str(made[provider]), *wanted]
            subprocess.run(command, check=True, env=clean_environ())
        return made[provider]

    return make


@pytest.fixture
def python(make_python: Callable[[str], Path], tmp_path: Path, provider: str, row: dict[str, Any]) -> Iterator[Path]:
    """Return the Python of an environment damaged as a row says, and put everything back afterwards."""
    python = make_python(provider)
    site = site_packages_of(python)
    lost = [path for pattern in row.get("lose", ()) for path in site.glob(pattern)]
    cut = [path for pattern in row.get("cut", ()) for path in site.glob(pattern)]
    assert (bool(lost), bool(cut)) == ("lose" in row, "cut" in row)
    written = [site / name for name in row.get("write", {})]
    new_folders = {path.parents[depth] for path in written for depth in (0, 1)}
    new_folders = {folder for folder in new_folders if not folder.exists()}
    moved = {path: tmp_path / str(number) for number, path in enumerate([*lost, *cut, *filter(Path.exists, written)])}
    for path, kept in moved.items():
        shutil.move(path, kept)
    for path in cut:
        path.write_bytes(moved[path].read_bytes()[: moved[path].stat().st_size // 2])
    write_files(site, row.get("write", {}))
    yield python
    for path in [*cut, *written]:
        path.unlink()
    for folder in new_folders:
        shutil.rmtree(folder, ignore_errors=True)
    for path, kept in moved.items():
        shutil.move(kept, path)


@pytest.mark.parametrize(
    ("provider", "row"), ROWS, ids=lambda value: value if isinstance(value, str) else value["name"]
)
def test_the_doctor_is_never_green_where_jax_does_something_else(
    provider: str, row: dict[str, Any], python: Path
) -> None:
    """Its default platform is that of JAX, or there is an error; what works is not called broken."""
    environ = clean_environ(**row.get("variables", {}))
    program = [python, DATA / "jax_on_an_h100.py"]
    real = subprocess.run(program, capture_output=True, text=True, check=False, env=environ)
    default = real.stdout.strip() or None if real.returncode == 0 else None
    here = other_environment(python)
    facts = facts_for(here)
    node = write_files(python.parent.parent / "root", {"dev/nvidia0": ""})
    decision = decide(H100, "auto", provider, facts.release)
    around = Surroundings(H100, facts, environ, decision, described=True, root=node, provider=provider)
    report = examine(here, around, uv_installer(python))
    assert (report.prediction.default == default) or report.exit_code == 1, real.stderr[-2000:]
    assert report.exit_code == row.get("status", 1)
    assert report.exit_code == 0 or any(finding.remedy for finding in report.findings)
