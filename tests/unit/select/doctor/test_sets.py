# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Wheels that do not belong together, and the one command that makes a set of them."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable

import pytest

from jaxlib_select.doctor.examine import examine_here
from machines import H100, MAX
from site_packages import AGAIN, CUDA13, SET, Site, codes


@pytest.mark.parametrize(
    ("jaxlib", "lock", "problem", "remedy"),
    [
        (
            "1.2.3",
            "2" * 32,
            f"jaxlib-cpu 1.2.3 (lock {'1' * 32}, prebuilt) and jaxlib 1.2.3 (lock {'2' * 32}, prebuilt) are not of",
            AGAIN,
        ),
        ("1.2.3", "", "jaxlib has no readable release lock: ", AGAIN),
        ("1.2.2", "", "jaxlib-cpu 1.2.3 cannot run with jaxlib 1.2.2", SET),
        ("1.2.2", "1" * 32, "jaxlib-cpu 1.2.3 cannot run with jaxlib 1.2.2", SET),
    ],
)
def test_wheels_of_different_sets_are_named(site: Site, jaxlib: str, lock: str, problem: str, remedy: str) -> None:
    """The plugin refuses in its own words, so the first use of JAX fails; the remedy installs what fits together."""
    report = site.jax(jaxlib=jaxlib, lock=lock).ours("cpu").examine()
    finding = report.findings[0]
    assert (finding.code, finding.what[: len(problem)]) == ("lock-mismatch", problem)
    assert finding.remedy == f"/venv/bin/python -m pip install {remedy} jaxlib-cpu==1.2.3"
    assert (report.prediction.default, report.exit_code) == (None, 1)


@pytest.mark.parametrize(
    ("jax", "jaxlib", "lock", "code", "remedy"),
    [
        ("1.1.2", "1.1.2", "", "lock-mismatch", f"{SET} jaxlib-cpu==1.2.3"),
        ("1.1.2", "1.2.3", "1" * 32, "jaxlib-mismatch", f"{SET} jaxlib-cpu==1.2.3"),
        ("1.2.3", "", "", "jaxlib-missing", f"{SET} jaxlib-cpu==1.2.3"),
        (
            "1.1.2",
            "1.2.3",
            "",
            "jaxlib-mismatch",
            f"{AGAIN} jaxlib-cpu==1.2.3 && /venv/bin/python -m pip install {SET} jaxlib-cpu==1.2.3",
        ),
    ],
)
def test_one_remedy_for_the_whole_set(site: Site, jax: str, jaxlib: str, lock: str, code: str, remedy: str) -> None:
    """Whoever follows it gets what fits together at once: no step of it leads back."""
    site.jax(jax, jaxlib, lock).ours("cpu")
    site.write("jax/version.py", f'_version = "{jax}"')
    if not jaxlib:
        for path in ("jaxlib", "jaxlib-.dist-info"):
            shutil.rmtree(site.folder / path)
    report = site.examine()
    assert [(finding.code, finding.remedy) for finding in report.findings] == [
        (code, f"/venv/bin/python -m pip install {remedy}")
    ]


def test_a_plugin_whose_lock_is_lost(site: Site) -> None:
    """It refuses, and is installed again with jaxlib."""
    site.jax().ours("cpu")
    (site.folder / "jaxlib_cpu/release_lock.json").unlink()
    report = site.examine()
    assert (codes(report), report.prediction.default) == (["lock-mismatch"], None)
    assert report.findings[0].remedy == f"/venv/bin/python -m pip install {AGAIN} jaxlib-cpu==1.2.3"


def test_wheels_that_all_refuse_are_one_error(site: Site) -> None:
    """With the one cause, and one command that keeps what only this machine needs."""
    site.jax(lock="2" * 32).ours("cpu").ours("cuda13").node()
    (finding,) = site.examine(H100, decision=CUDA13).findings
    assert finding.what.count("are not of one build") == 2
    assert finding.remedy == f"/venv/bin/python -m pip install {AGAIN} jaxlib-cpu==1.2.3 jaxlib-cuda-13==1.2.3"


def test_what_is_to_be_removed_is_not_fixed(site: Site) -> None:
    """An old plugin for the platform of another one is reported once."""
    site.jax().ours("cuda12", lock="2" * 32).ours("cuda13").node()
    (finding,) = site.examine(H100, decision=CUDA13).findings
    assert (finding.code, finding.remedy) == (
        "doubled-backend",
        "/venv/bin/python -m pip uninstall -y jaxlib-cuda-12",
    )


def test_two_of_our_plugins_for_one_platform(site: Site) -> None:
    """The newer one serves, as the loaders agree among themselves; the other is to be removed."""
    site.jax().ours("cuda12").ours("cuda13").node()
    report = site.examine(H100, decision=CUDA13)
    (finding,) = report.findings
    assert (finding.code, finding.remedy) == (
        "doubled-backend",
        "/venv/bin/python -m pip uninstall -y jaxlib-cuda-12",
    )
    assert report.prediction.platforms[-1].provider == "jaxlib-cuda-13"


def test_upstreams_plugin_next_to_ours(site: Site) -> None:
    """Ours leaves the platform to it; upstream's two distributions go together, ours is the one for this machine."""
    site.jax().upstream("cuda12", "cuda").ours("cuda13").node()
    report = site.examine(H100, decision=CUDA13)
    (finding,) = report.findings
    assert finding.what == (
        "jax-cuda12-pjrt and jaxlib-cuda-13 are both for JAX's platform 'cuda', and JAX can take only one"
    )
    assert finding.remedy == "/venv/bin/python -m pip uninstall -y jax-cuda12-pjrt jax-cuda12-plugin"
    assert report.prediction.platforms[-1].provider == "jax-cuda12-pjrt"


def test_kernels_without_their_plugin(site: Site) -> None:
    """JAX imports kernels of CUDA 13 before those of 12, whoever they belong to."""
    site.jax().ours("cpu").distribution("jax-cuda13-plugin")
    assert codes(site.examine()) == ["stale-kernels"]


def test_kernels_of_another_version(site: Site) -> None:
    """JAX does not use them, and says so in a warning only."""
    (finding,) = site.jax(lock="").upstream("cuda12", "cuda", kernels="1.2.2").examine().findings
    assert (finding.code, finding.remedy) == (
        "kernel-mismatch",
        "/venv/bin/python -m pip install jax-cuda12-plugin==1.2.3",
    )


@pytest.mark.parametrize(
    ("version", "jaxlib", "what"),
    [
        ("1.2.2", "1.2.3", "jaxlib 1.2.3 is newer than jax 1.2.2, which JAX refuses"),
        ("1.2.3", "1.2.1", "jax 1.2.3 needs jaxlib 1.2.2 at least, and jaxlib 1.2.1 is installed"),
    ],
)
def test_a_wrong_jaxlib(site: Site, version: str, jaxlib: str, what: str) -> None:
    """JAX refuses to be imported; both rules are JAX's own."""
    assert [finding.what for finding in site.jax(version, jaxlib, lock="").examine().findings] == [what]


def test_a_jaxlib_of_the_same_version_that_is_not_ours_is_replaced(site: Site) -> None:
    """Installers would take it for what is wanted."""
    report = site.jax(lock="").node().examine(H100, decision=CUDA13, sources=("--find-links", "dist"))
    assert report.findings[0].remedy == (
        "/venv/bin/python -m pip install --find-links dist --force-reinstall --no-deps jaxlib==1.2.3 && "
        "/venv/bin/python -m pip install --find-links dist jax==1.2.3 'jaxlib-cuda-13[with-cuda]==1.2.3' "
        "jaxlib==1.2.3"
    )


def test_a_plugin_that_the_release_lacks_is_not_brought_to_it(site: Site, add_release: Callable[..., None]) -> None:
    """There is no such wheel: JAX and jaxlib follow the plugin."""
    add_release("1.2.3")
    add_release("1.3", oneapi="no file")
    site.jax("1.3", "1.3", lock="2" * 32).ours("oneapi")
    report = examine_here(site.environment(), MAX, described=True, kind="pip")
    (finding,) = [finding for finding in report.findings if finding.code == "lock-mismatch"]
    assert shlex.split(finding.remedy)[-3:] == [
        "jax==1.2.3",
        "jaxlib==1.2.3",
        "jaxlib-oneapi==1.2.3",
    ]
