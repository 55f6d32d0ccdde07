# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is left of installations that were cut off, and what completes them."""

from __future__ import annotations

import shutil
import sys
import sysconfig
from collections.abc import Callable

import pytest

from jaxlib_select.apply.installer import pip_installer
from jaxlib_select.doctor.choice import Surroundings
from jaxlib_select.doctor.examine import examine
from jaxlib_select.installed.environment import read_environment
from machines import H100, PLAIN
from site_packages import AGAIN, CUDA13, INSTALL_CUDA13, PYTHON, Site, codes, lock_text

THIS = f"{sys.version_info.major}{sys.version_info.minor}"  # as in the names of extension modules


def lose_files(site: Site) -> None:
    """Remove the package, and leave its metadata."""
    shutil.rmtree(site.folder / "jaxlib_cuda_13")


def lose_metadata(site: Site) -> None:
    """Remove the metadata, and leave its package."""
    shutil.rmtree(site.folder / "jaxlib_cuda_13-1.2.3.dist-info")


def damage_metadata(site: Site) -> None:
    """Leave an empty file."""
    site.write("jaxlib_cuda_13-1.2.3.dist-info/METADATA")


def lose_library(site: Site) -> None:
    """Remove the library."""
    (site.folder / "jaxlib_cuda_13/xla_cuda_plugin.so").unlink()


def take_another_build(site: Site) -> None:
    """Let the plugin be one that was not built with jaxlib."""
    site.write("jaxlib_cuda_13/release_lock.json", lock_text("1.2.3", "2" * 32))


def add_a_second(site: Site) -> None:
    """Install a plugin for the same platform."""
    site.ours("cuda12")


def test_a_half_removed_plugin_still_announces_itself(site: Site) -> None:
    """The metadata is there, the module is not: JAX logs that and goes on without."""
    site.jax().distribution("jaxlib-cuda-13", plugin="jaxlib_cuda_13")
    report = site.node().examine(H100, decision=CUDA13)
    assert codes(report) == ["silent-cpu", "plugin-gone"]
    assert report.findings[1].remedy == (
        "/venv/bin/python -m pip install --force-reinstall --no-deps jaxlib-cuda-13==1.2.3"
    )
    assert report.findings[0].what.endswith("jaxlib-cuda-13 is installed, but JAX leaves it out")


@pytest.mark.parametrize(
    ("change", "code", "status"),
    [
        (lose_files, "plugin-gone", 1),
        (lose_metadata, "plugin-left-behind", 1),
        (damage_metadata, "damaged-metadata", 1),
        (lose_library, "library-missing", 1),
        (take_another_build, "lock-mismatch", 1),
        (add_a_second, "doubled-backend", 0),
    ],
)
def test_the_status_is_what_becomes_of_jax(site: Site, change: Callable[[Site], None], code: str, status: int) -> None:
    """The same damage is an error where a GPU is left out for it, and a warning where there is none."""
    change(site.jax().ours("cpu").ours("cuda13"))
    idle = site.examine()
    assert ([(finding.level, finding.code) for finding in idle.findings], idle.exit_code) == ([("warning", code)], 0)
    busy = site.node().examine(H100, decision=CUDA13)
    assert (code in codes(busy), busy.prediction.default != "cuda", busy.exit_code) == (True, bool(status), status)


def test_a_plugin_whose_metadata_is_gone(site: Site) -> None:
    """JAX does not find it, and no installer removes it."""
    site.jax().write("jaxlib_cuda_12/plugin.so", site.elf())
    report = site.examine()
    assert codes(report) == ["plugin-left-behind"]
    place = site.folder / "jaxlib_cuda_12"
    assert str(place) in report.findings[0].what
    assert report.findings[0].remedy == f"rm -r {place}"


def test_what_is_left_of_the_plugin_for_this_machine_is_completed(site: Site) -> None:
    """By the one command that installs it: removing it after that would undo it."""
    site.jax().write("jaxlib_cuda_13/xla_cuda_plugin.so", site.elf())
    report = site.node().examine(H100, decision=CUDA13)
    assert [(finding.code, finding.remedy) for finding in report.findings] == [
        ("silent-cpu", INSTALL_CUDA13),
        ("plugin-left-behind", INSTALL_CUDA13),
    ]


def test_metadata_twice_in_one_folder(site: Site) -> None:
    """An upgrade was cut off."""
    site.jax().ours("cpu").distribution("jaxlib", "1.2.2")
    report = site.examine()
    (remedy,) = (finding.remedy for finding in report.findings if finding.code == "doubled-metadata")
    assert remedy == f"/venv/bin/python -m pip install {AGAIN}", "not the version that does not fit"


def test_leftovers_of_another_version_are_removed(site: Site) -> None:
    """What is installed next to them stays."""
    site.jax().ours("cpu").write("jaxlib-1.2.2.dist-info/INSTALLER", "uv")
    (finding,) = site.examine().findings
    assert (finding.code, finding.remedy) == ("damaged-metadata", f"rm -r {site.folder / 'jaxlib-1.2.2.dist-info'}")


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("METADATA", b"\xff\xfe", ["damaged-metadata"]),
        ("METADATA", b"", ["damaged-metadata"]),
        ("METADATA", b"Version: 1\n\n", ["damaged-metadata"]),
        ("entry_points.txt", b"[jax_plugins\n= =\n[x]\n", []),  # Python reads no entry point in it
        ("RECORD", b'"unterminated\n', []),
    ],
)
def test_damaged_metadata_hides_nothing_else(site: Site, name: str, content: bytes, expected: list[str]) -> None:
    """What is around it is read all the same, and what JAX will do is known."""
    site.jax().ours("cpu").distribution("jaxlib-cuda-13")
    site.write(f"jaxlib_cuda_13-1.2.3.dist-info/{name}", content)
    report = site.examine()
    assert (codes(report), report.prediction.default) == (expected, "cpu")
    again = "/venv/bin/python -m pip install --force-reinstall --no-deps jaxlib-cuda-13==1.2.3"
    folder = site.folder / "jaxlib_cuda_13-1.2.3.dist-info"
    assert [finding.remedy for finding in report.findings] == [f"rm -r {folder} && {again}"] * len(expected)


def test_a_plugin_without_its_extension_module(site: Site) -> None:
    """Nothing else opens its library, so the first use of JAX fails."""
    site.jax().ours("cpu")
    (site.folder / "jaxlib_cpu/pjrt/_pjrt.py").unlink()
    report = site.examine()
    (finding,) = report.findings
    assert (finding.level, finding.code, report.prediction.default) == ("error", "extension-missing", None)
    assert finding.what == "cannot import the extension of jaxlib-cpu: No module named 'jaxlib_cpu.pjrt._pjrt'"
    assert finding.remedy == ("/venv/bin/python -m pip install --force-reinstall --no-deps jaxlib-cpu==1.2.3")


@pytest.mark.parametrize(
    ("recorded", "there", "level", "remedy"),
    [
        ((THIS, "399"), (THIS, "399"), "", ""),
        (("398", "399"), ("398", "399"), "warning", "use a Python that it has them for: 3.98, 3.99"),
        ((THIS, "399"), ("399",), "error", "--force-reinstall --no-deps jaxlib-cuda-13==1.2.3"),
        ((THIS, "399"), (), "error", "--force-reinstall --no-deps jaxlib-cuda-13==1.2.3"),
    ],
)
def test_kernels_for_this_python(
    site: Site, recorded: tuple[str, ...], there: tuple[str, ...], level: str, remedy: str
) -> None:
    """Lost ones are an error that a new installation fixes; those that the wheel never had ask for another Python."""
    site.jax().ours("cuda13").node()
    shutil.rmtree(site.folder / "jax_cuda13_plugin")
    suffix = str(sysconfig.get_config_var("EXT_SUFFIX"))
    files = {python: f"jax_cuda13_plugin/_solver{suffix.replace(THIS, python)}" for python in (*recorded, *there)}
    record = " ".join(files[python] for python in recorded)
    site.distribution("jaxlib-cuda-13", plugin="jaxlib_cuda_13", record=record)
    for python in there:
        site.write(files[python], site.elf())
    report = site.examine(H100, decision=CUDA13)
    found = [(finding.level, finding.code) for finding in report.findings]
    assert found == ([(level, "kernels-missing")] if level else [])
    for finding in report.findings:
        assert finding.what.startswith(
            f"jaxlib-cuda-13 has no GPU kernels for Python 3.{THIS[1:]}: JAX runs, but solvers"
        )
        assert remedy in finding.remedy


def test_code_that_is_gone(site: Site) -> None:
    """What was installed and another Python's kernels do not count."""
    site.jax().ours("cpu")
    record = "jaxlib_cpu/__init__.py jaxlib_cpu/gone.py jaxlib_cpu/notes.txt k/_solver.cpython-399-x.so"
    site.distribution("jaxlib-cpu", plugin="jaxlib_cpu", record=record)
    (finding,) = site.examine().findings
    assert (finding.level, finding.code, finding.what) == (
        "error",
        "files-missing",
        "jaxlib-cpu 1.2.3 is incomplete, it lacks jaxlib_cpu/gone.py",
    )


def test_a_regular_package_hides_the_namespace(site: Site) -> None:
    """Plugins in other folders are invisible then."""
    site.jax(lock="").upstream("cuda12", "cuda")
    other = site.folder.parent / "other"
    (other / "jax_plugins").mkdir(parents=True)
    (other / "jax_plugins/__init__.py").touch()
    environment = read_environment([other, site.folder], python=PYTHON, version=(3, 13, 0))
    report = examine(environment, Surroundings(PLAIN, site.facts, root=site.root), pip_installer(PYTHON))
    assert report.plugins == ()
    assert "namespace-hidden" in codes(report)
