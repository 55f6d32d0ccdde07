# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Libraries of plugins and of their vendors: lost, damaged, or shadowed by others."""

from __future__ import annotations

import pytest

from machines import H100, MI300, PLAIN
from site_packages import COMPONENTS, CUDA13, INSTALL_CUDA13, Site, codes
from small_libraries import loadable_elf


def test_a_plugin_without_its_library(site: Site) -> None:
    """Our loader refuses."""
    site.jax().ours("cpu")
    (site.folder / "jaxlib_cpu/pjrt_c_api_cpu_plugin.so").unlink()
    report = site.examine()
    assert (codes(report), report.prediction.default) == (["library-missing"], None)


def test_a_truncated_library(site: Site) -> None:
    """It is named, with what is wrong with it."""
    site.jax().ours("cpu")
    library = site.folder / "jaxlib_cpu/pjrt_c_api_cpu_plugin.so"
    whole = library.read_bytes()
    library.write_bytes(whole[:200])
    report = site.examine()
    assert (codes(report), report.exit_code) == (["library-damaged"], 1)
    assert report.findings[0].what == (f"the plugin library {library} is truncated: 200 bytes of at least {len(whole)}")


def test_a_plugin_library_for_another_processor(site: Site) -> None:
    """The plugin refuses it, and so does the doctor."""
    report = site.jax().ours("cpu", machine=183).examine()
    (finding,) = report.findings
    library = site.folder / "jaxlib_cpu/pjrt_c_api_cpu_plugin.so"
    assert (finding.code, finding.what) == (
        "library-damaged",
        f"the plugin library {library} is built for another machine than x86_64 (e_machine 183)",
    )
    assert report.prediction.default is None


@pytest.mark.parametrize(
    ("folder", "expected", "remedy"),
    [
        ("elsewhere", ("error", "unfit-backend"), "unset LD_LIBRARY_PATH"),
        ("foo/lib", ("note", "library-foreign"), ""),
    ],
)
def test_what_is_no_library_on_the_search_path(site: Site, folder: str, expected: tuple[str, str], remedy: str) -> None:
    """A text file stops the dynamic linker, unless the plugin finds the library in a place that it knows."""
    site.jax().ours("rocm7", needed=["libfoo.so.1"])
    site.write(f"{folder}/libfoo.so.1", site.elf())
    bad = site.write("elsewhere/libfoo.so.1", b"no library\n")
    paths = {"LD_LIBRARY_PATH": str(bad.parent), "ROCM_PATH": str(site.folder / "foo")}
    report = site.examine(MI300, paths)
    (finding,) = report.findings
    assert (finding.level, finding.code, finding.remedy) == (*expected, remedy)
    (entry,) = report.libraries["jaxlib-rocm-7"]
    assert (entry.needed, [file.path for file in entry.on_library_path]) == (True, [str(bad)])
    assert entry.path == (str(site.folder / folder / "libfoo.so.1") if expected[0] == "note" else None)
    assert f"{bad} is not a library: not an ELF file" in f"{finding.what} {entry.on_library_path[0].misfit}"


def test_a_driver_that_is_no_library(site: Site) -> None:
    """Where no GPU is seen, that may be why."""
    site.jax().ours("cuda13")
    bad = site.write("elsewhere/libcuda.so.1", b"no library\n" * 100)
    (finding,) = site.examine(PLAIN, {"LD_LIBRARY_PATH": str(bad.parent)}).findings
    assert (finding.level, finding.code, finding.remedy) == ("warning", "library-foreign", "unset LD_LIBRARY_PATH")
    assert finding.what == f"LD_LIBRARY_PATH: {bad}: invalid ELF header"


def test_a_plugin_takes_from_the_wheels_first_what_it_opens(site: Site) -> None:
    """By path, so LD_LIBRARY_PATH does not matter."""
    site.jax().ours("cuda13").node()
    other = site.write("elsewhere/libcudnn.so.9", site.elf(exports=COMPONENTS))
    report = site.examine(H100, {"LD_LIBRARY_PATH": str(other.parent)}, CUDA13)
    (path,) = (entry.path for entry in report.libraries["jaxlib-cuda-13"] if entry.name == "libcudnn.so.9")
    assert (path, report.findings) == (str(site.folder / "nvidia/cudnn/lib/libcudnn.so.9"), ())


def test_libraries_of_another_plugin_and_where_they_come_from(site: Site) -> None:
    """The dynamic linker is asked; a file of a wheel that LD_LIBRARY_PATH shadows is named."""
    source = 'LIBRARIES = ("libbar.so.3", "libgone.so.2")'
    site.jax(lock="").upstream("cuda12", "cuda", source=source, needed=["libfoo.so.1"]).node()
    bar = site.write("nvidia/cu12/lib/libbar.so.3", loadable_elf("bar"))
    wheel = site.write("nvidia/cu12/lib/libfoo.so.1", loadable_elf("foo"))
    elsewhere = site.write("elsewhere/libfoo.so.1", loadable_elf("foo"))
    report = site.examine(H100, {"LD_LIBRARY_PATH": str(elsewhere.parent)}, CUDA13)
    assert [(entry.name, entry.path, entry.origin) for entry in report.libraries["jax-cuda12-pjrt"]] == [
        ("libbar.so.3", str(bar), "vendor"),
        ("libgone.so.2", None, ""),
        ("libfoo.so.1", str(elsewhere), "LD_LIBRARY_PATH"),
    ]
    (finding,) = report.findings
    assert (finding.level, finding.code, finding.what) == (
        "warning",
        "library-shadowed",
        f"LD_LIBRARY_PATH leads to {elsewhere} instead of {wheel}",
    )


def test_another_plugin_that_cannot_be_opened(site: Site) -> None:
    """JAX logs what the dynamic linker says and goes on: on the CPU, which is an error where there is a GPU."""
    site.jax(lock="").upstream("cuda12", "cuda", needed=["libgone.so.2"]).node()
    report = site.examine(H100, decision=CUDA13)
    library = site.folder / "jax_plugins/xla_cuda12/plugin.so"
    assert codes(report) == ["silent-cpu", "library-damaged"]
    assert report.findings[1].what == (
        f"{library} cannot be used: libgone.so.2: cannot open shared object file: No such file or directory"
    )


def test_another_plugin_without_its_vendors_libraries(site: Site) -> None:
    """None of those that its source names is there."""
    site.jax(lock="").upstream("cuda12", "cuda", source='L = ["libcuda.so.1", "libgone.so.1"]').node()
    report = site.examine(H100, decision=CUDA13)
    (finding,) = report.findings
    assert (finding.code, finding.what) == (
        "unfit-backend",
        "jax-cuda12-pjrt does not run here: its libraries are nowhere on the search path: libgone.so.1",
    )
    assert report.prediction.default is None


def test_a_plugin_without_its_vendors_libraries(site: Site) -> None:
    """On the hardware its first use fails, and the remedy brings them; elsewhere nobody is bothered."""
    site.jax().ours("cuda13", libraries=False).node()
    report = site.examine(H100, decision=CUDA13)
    assert [(finding.code, finding.remedy) for finding in report.findings] == [("unfit-backend", INSTALL_CUDA13)]
    assert "cuDNN is missing (libcudnn.so.9)" in report.prediction.error
    elsewhere = site.examine()
    assert (codes(elsewhere), elsewhere.prediction.default) == ([], "cpu")
    # `python -m jaxlib_cuda_13` says there as well that it does not fit.
    (reason,) = (entry.reason for entry in elsewhere.prediction.platforms if entry.platform == "cuda")
    assert reason.startswith("no NVIDIA GPU was found; on one its first use would fail: ")
    assert "cuDNN is missing (libcudnn.so.9)" in reason


def test_a_plugin_without_some_of_its_vendors_libraries(site: Site) -> None:
    """JAX starts, and the programs that need them fail."""
    site.jax().ours("cuda13").node()
    (site.folder / "nvidia/cu13/lib/libcusolver.so.12").unlink()
    (finding,) = site.examine(H100, decision=CUDA13).findings
    assert (finding.level, finding.code, finding.remedy) == ("warning", "library-not-found", INSTALL_CUDA13)
    assert "cusolver is missing (libcusolver.so.12)" in finding.what
    # As the plugin itself says it: its loader alone knows which libraries it needs.
    report = site.examine(H100, decision=CUDA13)
    (line,) = (line for line in report.to_text().splitlines() if line.startswith("Platform   cuda"))
    missing = "cusolver is missing (libcusolver.so.12)"
    assert line == f"Platform   cuda by jaxlib-cuda-13, priority 500, serves, but not all programs: {missing}"
    (problem,) = (entry for plugin in report.plugins for entry in plugin.answer.problems if entry.effect == "degraded")
    assert problem.what == missing
