# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What JAX needs and does not find, and where the wheels that fix it come from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jaxlib_select.doctor.examine import find_sources
from machines import H100
from site_packages import CUDA13, INSTALL_CUDA13, SOURCE, Site, lock_text

NEEDS = ("numpy>=2.1", "scipy (>=1.15)", "opt_einsum", "jaxlib<=1.2.3,>=1.2.3", 'x; extra == "y"', "ml_dtypes != 1.0")


def test_no_jax_at_all(site: Site) -> None:
    """An empty environment is an answer too."""
    report = site.node().examine(H100, decision=CUDA13)
    (finding,) = report.findings
    assert (finding.code, finding.what, finding.remedy) == (
        "jax-missing",
        "jax and jaxlib are not installed",
        INSTALL_CUDA13,
    )
    assert (report.prediction.default, report.prediction.platforms) == (None, ())
    assert "serves" not in report.to_text()
    assert "JAX        cannot be imported: jax and jaxlib are not installed" in report.to_text().splitlines()


@pytest.mark.parametrize(
    ("name", "release", "remedy"),
    [
        ("jaxlib", "1.2.3", INSTALL_CUDA13),
        ("jax", "1.2.3", INSTALL_CUDA13),
        ("jax", "1.1.0", "/venv/bin/python -m pip install jax==1.1.0 jaxlib==1.1.0"),
    ],
)
def test_half_of_jax_is_completed_with_our_wheels(site: Site, name: str, release: str, remedy: str) -> None:
    """Those of the same release, and upstream's only where we have none."""
    site.distribution(name, release)
    site.write(f"{name}/__init__.py")
    site.write(f"{name}/release_lock.json", lock_text(release, "1" * 32))
    (finding,) = site.examine(H100, decision=CUDA13).findings
    other = "jax" if name == "jaxlib" else "jaxlib"
    assert (finding.code, finding.what, finding.remedy) == (f"{other}-missing", f"{other} is not installed", remedy)


def test_what_jax_needs_and_is_not_there(site: Site) -> None:
    """JAX cannot be imported; one command brings all of it, and what has metadata, but no files, again."""
    site.jax().ours("cpu")
    site.distribution("jax", requires=NEEDS)
    site.distribution("jaxlib", requires=("numpy>=2.0",))
    site.distribution("ml_dtypes", "0.5")
    site.write("opt_einsum/__init__.py")
    site.distribution("scipy", "1.16", record="scipy/__init__.py")
    report = site.examine()
    (finding,) = report.findings
    assert (finding.level, finding.code, finding.what) == (
        "error",
        "requirement-missing",
        "not installed: numpy (jax needs numpy>=2.1,>=2.0), scipy 1.16 without its files (jax needs scipy>=1.15)",
    )
    assert finding.remedy == (
        "/venv/bin/python -m pip install --force-reinstall --no-deps 'scipy>=1.15' && "
        "/venv/bin/python -m pip install 'numpy>=2.1,>=2.0' 'scipy>=1.15'"
    )
    assert (report.prediction.error, report.exit_code) == ("numpy and scipy are not installed", 1)


def test_what_jax_needs_in_another_version(site: Site) -> None:
    """JAX may run: a warning, as is what a plugin alone does not have."""
    site.jax().ours("cpu")
    site.distribution("jax", requires=("numpy>=2.1",))
    site.distribution("numpy", "1.26.4")
    site.distribution("jaxlib-cpu", plugin="jaxlib_cpu", requires=("abacus>1,<2", "jaxlib==1.2.3"))
    report = site.examine()
    assert [(finding.level, finding.what, finding.remedy) for finding in report.findings] == [
        (
            "warning",
            "not installed: abacus (jaxlib-cpu needs abacus>1,<2)",
            "/venv/bin/python -m pip install 'abacus>1,<2'",
        ),
        (
            "warning",
            "does not fit: numpy 1.26.4 (jax needs numpy>=2.1)",
            "/venv/bin/python -m pip install 'numpy>=2.1'",
        ),
    ]
    assert (report.prediction.default, report.exit_code) == ("cpu", 0)


def test_remedies_say_where_the_wheels_are(site: Site) -> None:
    """As the options say, and without a note where a variable of the installer does."""
    command = "/venv/bin/python -m pip install {}jax==1.2.3 'jaxlib-cuda-13[with-cuda]==1.2.3'"
    (given,) = site.examine(H100, decision=CUDA13, sources=("--find-links", "dist")).findings
    (known,) = site.examine(H100, {"PIP_FIND_LINKS": "dist"}, CUDA13).findings
    (mirror,) = site.examine(H100, {"PIP_INDEX_URL": "mirror"}, CUDA13).findings
    (other,) = site.examine(H100, {"UV_FIND_LINKS": "dist"}, CUDA13).findings
    assert given.remedy == command.format("--find-links dist ")
    assert known.remedy == command.format("")
    assert mirror.remedy == other.remedy == INSTALL_CUDA13
    assert [finding.note for finding in (given, known, mirror, other)] == ["", "", SOURCE, SOURCE]


def test_the_folder_that_the_wheels_came_from(site: Site, tmp_path: Path) -> None:
    """An installer that was given a file wrote that down (PEP 610); upstream's jaxlib is no reason to go there."""
    site.jax()
    dist = tmp_path / "our wheels"
    dist.mkdir()
    site.write("jaxlib-1.2.3.dist-info/direct_url.json", json.dumps({"url": (dist / "jaxlib.whl").as_uri()}))
    assert find_sources(site.environment()) == ("--find-links", str(dist))
    (site.folder / "jaxlib/release_lock.json").unlink()
    assert find_sources(site.environment()) == ()
