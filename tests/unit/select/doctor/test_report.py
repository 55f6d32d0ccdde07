# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Reports about environments that are no row of the table: they need other facts, or this very Python."""

import json
import shlex
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from jaxlib_select.doctor.examine import examine_here, find_sources
from machines import H100, MAX
from select_commands import lacking
from site_packages import CUDA13, INSTALL_CUDA13, UPSTREAM12, Site, codes
from small_libraries import loadable_elf


def test_the_report_is_json_and_text(site: Site) -> None:
    """Versions, where each plugin is announced, what it is for and its library, and the hardware."""
    report = site.jax().ours("cpu").node().examine(H100, decision=CUDA13)
    document = json.loads(json.dumps(report.to_json()))
    assert (document["default"], document["silent_cpu"], len(document["hardware"])) == ("cpu", True, 1)
    assert report.versions == {"jax": "1.2.3", "jaxlib": "1.2.3", "jaxlib-cpu": "1.2.3"}
    (plugin,) = report.plugins
    found = (plugin.module, plugin.sources, plugin.platform, plugin.priority)
    assert found == ("jaxlib_cpu", ("entry point",), "cpu", 0)
    assert plugin.libraries == (site.folder / "jaxlib_cpu/pjrt_c_api_cpu_plugin.so",)
    assert f"  {INSTALL_CUDA13}" in report.to_text().splitlines()


@pytest.mark.parametrize(("lock", "origin"), [("1" * 32, "ours"), ("", "upstream")])
def test_whose_jaxlib_is_installed_is_shown(site: Site, lock: str, origin: str) -> None:
    """Both publish it in one version, and plugins serve with their own alone."""
    report = site.jax(lock=lock).examine()
    assert (report.to_json()["jaxlib_origin"], f"jaxlib 1.2.3 ({origin}" in report.to_text()) == (origin, True)


@pytest.mark.parametrize("backend", ["cpu", "oneapi"])
def test_a_backend_of_which_there_are_no_facts(site: Site, backend: str) -> None:
    """A vendor who forgot them, or another release: the plugin itself says what its platform is."""
    site.facts = replace(site.facts, backends=tuple(entry for entry in site.facts.backends if entry.name != backend))
    report = site.jax().ours(backend).examine()
    found = {entry.platform: (entry.provider, entry.outcome) for entry in report.prediction.platforms}
    assert found[backend] == (f"jaxlib-{backend}", "serves")


def test_many_gpus_of_one_kind_are_one_line(site: Site) -> None:
    """Ten thousand of them as well."""
    crowd = replace(H100, nvidia=replace(H100.nvidia, gpus=H100.nvidia.gpus * 10_000))
    assert site.jax().examine(crowd).hardware == ("10000 x H100, compute capability 9.0",)


def test_an_accelerator_that_the_installed_release_lacks_is_reported(
    site: Site, add_release: Callable[..., None]
) -> None:
    """With the newest release that has its package; the facts are those of the release that is installed."""
    add_release("1.3")
    add_release("1.4", oneapi="no file")
    report = examine_here(site.jax("1.4", "1.4").environment(), MAX, described=True, kind="pip")
    (finding,) = [finding for finding in report.findings if finding.code == "absent-backend"]
    assert (finding.level, report.exit_code, report.prediction.default) == ("error", 1, "cpu")
    assert lacking(finding.what, "jax 1.4 has no oneapi wheel", "jax==1.3") == []
    assert shlex.split(finding.remedy)[-2:] == ["jax==1.3", "jaxlib-oneapi[with-oneapi]==1.3"]
    site.remove("jax-1.4.dist-info")
    site.remove("jaxlib-1.4.dist-info")
    report = examine_here(site.jax("1.3", "1.3").environment(), MAX, described=True, kind="pip")
    assert codes(report) == ["silent-cpu"]  # that release has it: it is missing here


def test_an_environment_whose_python_is_too_old_is_not_installed_into(site: Site) -> None:
    """The fix makes another one, and a note says why, whether JAX is there or not."""
    for code in ("jax-missing", "silent-cpu"):
        old = replace(site.environment(), version=(3, 10, 7))
        finding = examine_here(old, H100, described=True).findings[0]
        assert (finding.code, finding.remedy.endswith(" .venv-3.11")) == (code, True)
        assert lacking(finding.note, ">=3.11", "3.10.7", "--python .venv-3.11") == []
        site.jax()


THIS = f"{sys.version_info.major}{sys.version_info.minor}"  # as in the names of extension modules


@pytest.mark.parametrize(
    ("recorded", "there", "level"),
    [
        ((THIS, "399"), (THIS, "399"), ""),
        (("398", "399"), ("398", "399"), "warning"),
        ((THIS, "399"), ("399",), "error"),
    ],
)
def test_kernels_for_this_python(site: Site, recorded: tuple[str, ...], there: tuple[str, ...], level: str) -> None:
    """Lost ones are an error, others warn that only another Python has some; installing theirs again fixes it."""
    site.jax().ours("cuda13").node().remove("jax_cuda13_plugin")
    suffix = str(sysconfig.get_config_var("EXT_SUFFIX"))
    files = {python: f"jax_cuda13_plugin/_solver{suffix.replace(THIS, python)}" for python in (*recorded, *there)}
    record = " ".join(files[python] for python in recorded)
    site.distribution("jaxlib-cuda-13-kernels", record=record)
    for python in there:
        site.library(files[python])
    found = site.examine(H100, decision=CUDA13).findings
    assert [(finding.level, finding.code) for finding in found] == ([(level, "kernels-missing")] if level else [])
    remedy = "--force-reinstall --no-deps jaxlib-cuda-13-kernels==1.2.3"
    assert [finding for finding in found if remedy not in finding.remedy] == []


def test_a_plugin_that_the_release_lacks_is_not_brought_to_it(site: Site, add_release: Callable[..., None]) -> None:
    """There is no such wheel: JAX and jaxlib follow the plugin."""
    add_release("1.2.3")
    add_release("1.3", oneapi="no file")
    site.jax("1.3", "1.3", lock="2" * 32).ours("oneapi")
    report = examine_here(site.environment(), MAX, described=True, kind="pip")
    (remedy,) = [finding.remedy for finding in report.findings if finding.code == "lock-mismatch"]
    names = ("jax", "jaxlib", "jaxlib-oneapi", "jaxlib-oneapi-kernels")
    assert shlex.split(remedy)[-4:] == [f"{name}==1.2.3" for name in names]


def test_libraries_of_another_plugin_and_where_they_come_from(site: Site) -> None:
    """The dynamic linker is asked; a file of a wheel that LD_LIBRARY_PATH shadows is named."""
    site.jax(lock="").upstream("cuda12", "cuda", needed=["libfoo.so.1"]).node()
    site.remove("nvidia/a/lib/libcudnn.so.9")
    wheel = site.write("nvidia/cu12/lib/libfoo.so.1", loadable_elf("foo"))
    elsewhere = site.write("elsewhere/libfoo.so.1", loadable_elf("foo"))
    report = site.examine(H100, {"LD_LIBRARY_PATH": str(elsewhere.parent)}, UPSTREAM12)
    found = {entry.name: (entry.path, entry.origin) for entry in report.libraries["jax-cuda12-pjrt"]}
    assert found["libcudart.so.12"] == (str(site.folder / "nvidia/a/lib/libcudart.so.12"), "vendor")
    assert (found["libcudnn.so.9"], found["libfoo.so.1"]) == ((None, ""), (str(elsewhere), "LD_LIBRARY_PATH"))
    assert codes(report) == ["silent-cpu", "library-shadowed"]
    assert lacking(report.findings[0].what, "libcudnn.so.9") == []
    assert lacking(report.findings[1].what, "LD_LIBRARY_PATH", str(elsewhere), str(wheel)) == []


def test_the_folder_that_the_wheels_came_from(site: Site, tmp_path: Path) -> None:
    """An installer that was given a file wrote that down (PEP 610); upstream's jaxlib is no reason to go there."""
    site.jax()
    dist = tmp_path / "our wheels"
    dist.mkdir()
    site.write("jaxlib-1.2.3.dist-info/direct_url.json", json.dumps({"url": (dist / "jaxlib.whl").as_uri()}))
    assert find_sources(site.environment()) == ("--find-links", str(dist))
    (site.folder / "jaxlib/release_lock.json").unlink()
    assert find_sources(site.environment()) == ()
