# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""JAX's own wheels for CUDA 13 with all that NVIDIA publishes, damaged in one way after the other: the doctor and JAX.

NVIDIA's libraries are the real ones, some gigabytes from the package index; only the driver's answers are made up.
"""

import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from folders import site_packages_of, write_files
from jaxlib_select.apply.installer import uv_installer
from jaxlib_select.doctor.choice import Surroundings, decide
from jaxlib_select.doctor.examine import examine, facts_for
from jaxlib_select.facts import UPSTREAM
from jaxlib_select.installed.environment import other_environment
from machines import H100
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.environment.venv import create_venv, find_uv
from pjrtwheel.release.model import Release

pytestmark = [pytest.mark.integration, pytest.mark.slow]

DATA = Path(__file__).parents[1] / "data"
ROWS: list[dict[str, Any]] = tomllib.loads((DATA / "doctor_upstream.toml").read_text("utf-8"))["row"]


@pytest.fixture(scope="module")
def python(interpreter: Interpreter, release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment with JAX's own wheels for CUDA 13."""
    found = create_venv(interpreter, tmp_path_factory.mktemp("upstream") / "venv")
    command = [str(find_uv()), "pip", "install", "--quiet", "--python", str(found), f"jax[cuda13]=={release.version}"]
    subprocess.run(command, check=True, env=clean_environ())
    return found


@pytest.fixture
def damage(python: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[None]:
    """Damage it as a row says, and put everything back afterwards."""
    site, row = site_packages_of(python), request.getfixturevalue("row")
    moved = {path: tmp_path / path.name for pattern in row.get("lose", ()) for path in site.glob(pattern)}
    moved |= {site / name: tmp_path / Path(name).name for name in row.get("write", {}) if (site / name).exists()}
    assert moved or not row.get("lose")
    for path, kept in moved.items():
        shutil.move(path, kept)
    write_files(site, row.get("write", {}))
    yield
    for name in row.get("write", {}):
        (site / name).unlink()
    for path, kept in moved.items():
        shutil.move(kept, path)


@pytest.mark.usefixtures("damage")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_the_doctor_is_never_green_where_jax_does_something_else(row: dict[str, Any], python: Path) -> None:
    """Its default platform is that of JAX, or there is an error; what works is not called broken."""
    environ = clean_environ(**row.get("variables", {}))
    program = [python, DATA / "jax_on_an_h100.py"]
    real = subprocess.run(program, capture_output=True, text=True, check=False, env=environ)
    default = real.stdout.strip() or None if real.returncode == 0 else None
    here = other_environment(python)
    facts = facts_for(here)
    node = write_files(python.parent.parent / "root", {"dev/nvidia0": ""})
    decision = decide(H100, "auto", UPSTREAM, facts.release)
    around = Surroundings(H100, facts, environ, decision, described=True, root=node, provider=UPSTREAM)
    report = examine(here, around, uv_installer(python))
    assert (report.prediction.default == default) or report.exit_code == 1, real.stderr[-2000:]
    assert report.exit_code == row.get("status", 1)
    assert report.exit_code == 0 or any(finding.remedy for finding in report.findings)
