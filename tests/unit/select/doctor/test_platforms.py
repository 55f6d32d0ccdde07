# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which platform JAX will run on, and whether the CPU is what was meant."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import replace

import pytest

from jaxlib_select.choose.decision import Candidate, Decision
from jaxlib_select.doctor.examine import examine_here
from jaxlib_select.machine.model import Amd, Devices, Intel, Machine, Nvidia, NvidiaGpu
from machines import H100, MAX, PLAIN
from site_packages import CUDA13, INSTALL_CUDA13, Site, codes
from small_libraries import loadable_elf

TPU = Devices(pci=("1ae0:0063",), devices=("/dev/vfio/0",))


def test_a_good_cpu_environment_has_nothing_to_fix(site: Site) -> None:
    """JAX, our jaxlib and our plugin, on a machine without accelerators."""
    report = site.jax().ours("cpu").examine()
    assert (report.findings, report.prediction.default, report.exit_code) == ((), "cpu", 0)
    assert report.versions == {"jax": "1.2.3", "jaxlib": "1.2.3", "jaxlib-cpu": "1.2.3"}
    (plugin,) = report.plugins
    assert (plugin.module, plugin.sources, plugin.platform, plugin.priority) == (
        "jaxlib_cpu",
        ("entry point",),
        "cpu",
        0,
    )
    assert plugin.libraries == (site.folder / "jaxlib_cpu/pjrt_c_api_cpu_plugin.so",)


def test_a_good_gpu_environment_runs_on_the_gpu(site: Site) -> None:
    """The platform with the highest priority is the default."""
    report = site.jax().ours("cuda13").node().examine(H100, decision=CUDA13)
    assert (report.findings, report.prediction.default, report.exit_code) == ((), "cuda", 0)
    assert [(entry.platform, entry.outcome) for entry in report.prediction.platforms] == [
        ("cpu", "serves"),
        ("tpu", "absent"),
        ("cuda", "serves"),
    ]


@pytest.mark.parametrize(("lock", "origin", "shown"), [("1" * 32, "ours", "ours"), ("", "upstream", "upstream's")])
def test_whose_jaxlib_is_installed_is_shown(site: Site, lock: str, origin: str, shown: str) -> None:
    """Both publish it in one version, and plugins serve with their own alone."""
    report = site.jax(lock=lock).examine()
    assert (report.jaxlib_origin, report.to_json()["jaxlib_origin"]) == (origin, origin)
    assert f"Installed  jax 1.2.3 jaxlib 1.2.3 ({shown})" in report.to_text().splitlines()


def test_no_jaxlib_is_nobodys(site: Site) -> None:
    """There is nothing to be shown."""
    site.distribution("jax")
    report = site.examine()
    assert report.jaxlib_origin is None
    assert "Installed  jax 1.2.3" in report.to_text().splitlines()


def test_a_vendor_that_nobody_here_knows(site: Site) -> None:
    """Its platform is shown by the name that its source has; where it has none, a note says that there is one."""
    site.jax(lock="").upstream("abacus", "abacus")
    known = site.examine()
    assert (known.prediction.default, codes(known)) == ("abacus", [])
    assert "Platform   abacus by jax-abacus-pjrt, priority 500, serves" in known.to_text().splitlines()
    module = "def initialize():\n    xb.register_plugin(read_name(), priority=500)\n"
    site.write("jax_plugins/xla_abacus/__init__.py", module)
    (finding,) = site.examine().findings
    assert (finding.level, finding.code, finding.remedy) == ("note", "platform-unknown", "")
    assert (
        finding.what == "jax-abacus-pjrt registers a platform that its source does not name: doctor --import asks JAX"
    )


@pytest.mark.parametrize("backend", ["cpu", "oneapi"])
def test_a_backend_of_which_there_are_no_facts(site: Site, backend: str) -> None:
    """A vendor who forgot them, or another release: the plugin itself says what its platform is."""
    site.facts = replace(site.facts, backends=tuple(entry for entry in site.facts.backends if entry.name != backend))
    report = site.jax().ours(backend).examine()
    found = report.prediction.find(backend)
    assert found is not None
    assert (found.provider, found.outcome) == (f"jaxlib-{backend}", "serves")


def test_a_gpu_without_its_package_is_silent_cpu(site: Site) -> None:
    """Exit status 1, and the command that installs what belongs here."""
    report = site.jax().node().examine(H100, decision=CUDA13)
    (finding,) = report.findings
    assert (finding.level, finding.code, finding.remedy) == ("error", "silent-cpu", INSTALL_CUDA13)
    assert finding.what == (
        "JAX will run on the CPU, though there is H100, compute capability 9.0: jaxlib-cuda-13 is not installed"
    )
    assert (report.silent_cpu, report.exit_code) == (True, 1)


def test_many_gpus_of_one_kind_are_one_line(site: Site) -> None:
    """Ten thousand of them as well."""
    crowd = Machine(os="linux", arch="x86_64", nvidia=Nvidia(cuinit=0, gpus=(NvidiaGpu((9, 0), "H100"),) * 10_000))
    assert site.jax().examine(crowd).hardware == ("10000 x H100, compute capability 9.0",)


def test_who_asks_for_the_cpu_gets_it(site: Site) -> None:
    """With JAX_PLATFORMS=cpu the CPU is no accident."""
    report = site.jax().node().examine(H100, {"JAX_PLATFORMS": "cpu"}, CUDA13)
    assert (codes(report), report.silent_cpu, report.exit_code) == ([], False, 0)


def test_asking_for_the_cpu_leaves_a_gpu_out(site: Site) -> None:
    """The report says why."""
    site.jax().ours("cuda13").node()
    report = site.examine(H100, {"JAX_PLATFORMS": "cpu"}, CUDA13)
    (finding,) = report.findings
    assert (finding.level, finding.what, finding.remedy) == (
        "warning",
        "JAX_PLATFORMS is 'cpu', so JAX leaves cuda out",
        "unset JAX_PLATFORMS",
    )


def test_a_gpu_that_no_package_serves_is_silent_cpu_too(site: Site) -> None:
    """There is nothing to install, but the user may say that the CPU is meant."""
    cpu = Decision("jaxlib-cpu", "cpu", (), (Candidate("cuda13", chosen=False, reason="too old"),))
    report = site.jax().ours("cpu").node().examine(H100, decision=cpu)
    assert [(finding.code, finding.remedy, finding.note) for finding in report.findings] == [
        ("silent-cpu", "export JAX_PLATFORMS=cpu", "if that is meant")
    ]
    assert report.to_text().splitlines()[-2:] == ["To fix it (if that is meant):", "  export JAX_PLATFORMS=cpu"]
    assert "too old" in report.findings[0].what


def test_switched_off(site: Site) -> None:
    """The variable is named."""
    site.jax().ours("cuda13").node()
    report = site.examine(H100, {"JAXLIB_CUDA_13_DISABLE": "1"}, CUDA13)
    assert codes(report) == ["silent-cpu", "switched-off"]
    assert report.findings[1].remedy == "unset JAXLIB_CUDA_13_DISABLE"


def test_a_driver_that_is_too_old_for_the_plugin(site: Site) -> None:
    """What the rules of the vendor say is the reason."""
    site.jax().ours("cuda13").node()
    cuda12 = Decision("jaxlib-cuda-12", "cuda12", ("jaxlib-cuda-12==1.2.3",), ())
    report = site.examine(replace(H100, nvidia=replace(H100.nvidia, cuda=(12, 4))), decision=cuda12)
    (finding,) = report.findings
    assert (finding.code, finding.what) == (
        "unfit-backend",
        "jaxlib-cuda-13 does not run here: needs a driver for CUDA 13.0, this one serves CUDA 12.4",
    )
    assert finding.remedy == (
        "/venv/bin/python -m pip install jaxlib-cuda-12==1.2.3 && /venv/bin/python -m pip uninstall -y jaxlib-cuda-13"
    )


def test_jax_platforms_asks_for_what_is_not_there(site: Site) -> None:
    """JAX fails loudly, as predicted."""
    report = site.jax().examine(variables={"JAX_PLATFORMS": "rocm"})
    assert [(finding.what, finding.remedy) for finding in report.findings] == [
        ("JAX_PLATFORMS=rocm asks for 'rocm', which nothing installed registers", "export JAX_PLATFORMS=cpu")
    ]


def test_jax_platforms_gpu_asks_for_all_gpus(site: Site) -> None:
    """JAX expands the alias and wants each of the platforms: a trap of its own."""
    site.jax().ours("cuda13").node()
    report = site.examine(H100, {"JAX_PLATFORMS": "gpu"}, CUDA13)
    assert report.prediction.error == "JAX_PLATFORMS=gpu asks for 'rocm', which nothing installed registers"


def test_a_bad_entry_of_the_environment_variable(site: Site) -> None:
    """JAX ignores what it cannot read, and fails on what it cannot open."""
    report = site.jax().examine(variables={"PJRT_NAMES_AND_LIBRARY_PATHS": "nonsense,mine:/nowhere.so"})
    assert [(finding.level, finding.code) for finding in report.findings] == [
        ("error", "variable"),
        ("warning", "variable"),
    ]
    assert report.prediction.default is None


def test_a_plugin_from_the_environment_variable(site: Site) -> None:
    """With a JSON file between, it comes before everything else that is here."""
    library = site.write("mine.so", loadable_elf("GetPjrtApi"))
    config = site.write("mine.json", json.dumps({"library_path": str(library)}))
    report = site.jax().examine(variables={"PJRT_NAMES_AND_LIBRARY_PATHS": f"mine:{config}"})
    assert (report.prediction.default, report.findings) == ("mine", ())


def test_a_tpu_machine_asks_for_tpu_by_itself(site: Site) -> None:
    """With libtpu, JAX sets its platforms to `tpu,cpu`."""
    site.jax().write("libtpu/libtpu.so", b"")
    report = site.examine(replace(PLAIN, tpu=TPU))
    assert (report.prediction.default, report.hardware) == ("tpu", ("TPU 1ae0:0063",))


def test_a_tpu_without_its_device_fails(site: Site) -> None:
    """JAX asks for `tpu,cpu` by the PCI bus alone."""
    site.jax().write("libtpu/libtpu.so", b"")
    report = site.examine(replace(PLAIN, tpu=replace(TPU, devices=())))
    assert (report.prediction.default, codes(report), report.exit_code) == (None, ["unfit-backend"], 1)


@pytest.mark.parametrize("device", ["1ae0:0042", "1ae0:001f"])
def test_what_google_makes_next_to_tpus_is_none(site: Site, device: str) -> None:
    """Its network card and its disks are on every machine of its cloud, with or without libtpu."""
    site.jax().write("libtpu/libtpu.so", b"")
    report = site.examine(replace(PLAIN, tpu=Devices(pci=(device,))))
    assert (report.hardware, report.prediction.default, report.findings) == ((), "cpu", ())
    assert report.prediction.platforms[1].reason == f"{device} is a device of Google's, but no TPU"


@pytest.mark.parametrize(
    ("backend", "platform", "machine", "outcome", "reason"),
    [
        (
            "oneapi",
            "oneapi",
            replace(PLAIN, intel=Intel(("8086:46a6",), level_zero=True)),
            "absent",
            "no discrete Intel",
        ),
        (
            "oneapi",
            "oneapi",
            replace(PLAIN, intel=Intel(("8086:0bd5",), level_zero=False)),
            "fails",
            "not Level Zero",
        ),
        ("oneapi", "oneapi", replace(PLAIN, intel=Intel(("8086:0bd5",), level_zero=True)), "serves", ""),
        (
            "rocm7",
            "rocm",
            replace(PLAIN, amd=Amd("7.0", ("gfx942",), accessible=False)),
            "fails",
            "may not be opened",
        ),
        ("rocm7", "rocm", replace(PLAIN, amd=Amd("7.0", ("gfx942",), accessible=True)), "serves", ""),
        ("cuda13", "cuda", replace(H100, nvidia=Nvidia(cuinit=803)), "fails", "(cuInit 803)"),
        ("cuda13", "cuda", replace(H100, nvidia=Nvidia(cuinit=100, pci=("10de:2330",))), "absent", "no GPU"),
    ],
)
def test_the_vendors_rules_are_the_only_ones(
    site: Site, backend: str, platform: str, machine: Machine, outcome: str, reason: str
) -> None:
    """What is there and cannot be used fails, as the plugin does; what counts for nothing is absent."""
    predicted = site.jax().ours(backend).node().examine(machine).prediction.platforms[-1]
    assert (predicted.platform, predicted.outcome) == (platform, outcome)
    assert reason in predicted.reason


def test_an_accelerator_that_the_installed_release_lacks_is_reported(
    site: Site, add_release: Callable[..., None]
) -> None:
    """With the newest release that has its package; the facts are those of the release that is installed."""
    add_release("1.3")
    add_release("1.4", oneapi="no file")
    environment = site.jax("1.4", "1.4").environment()
    report = examine_here(environment, MAX, described=True, kind="pip")
    (finding,) = [finding for finding in report.findings if finding.code == "absent-backend"]
    assert (finding.level, report.exit_code, report.prediction.default) == ("warning", 0, "cpu")
    assert finding.what == (
        "JAX will run on the CPU: there is no wheel of jaxlib-oneapi 1.4 for Linux on x86_64, no file; "
        "the newest that has it is jax==1.3"
    )
    command = finding.remedy
    assert shlex.split(command)[-2:] == ["jax==1.3", "jaxlib-oneapi[with-oneapi]==1.3"]


def test_in_a_release_that_has_the_package_no_other_is_offered(site: Site, add_release: Callable[..., None]) -> None:
    """Though the newest lacks it: it is missing here, which is what the doctor says."""
    add_release("1.3")
    add_release("1.4", oneapi="no file")
    report = examine_here(site.jax("1.3", "1.3").environment(), MAX, described=True, kind="pip")
    assert [(finding.code, finding.what.rpartition(": ")[2]) for finding in report.findings] == [
        ("silent-cpu", "jaxlib-oneapi is not installed")
    ]


def test_the_report_is_json_and_text(site: Site) -> None:
    """Everything in it can be written down."""
    report = site.jax().ours("cpu").node().examine(H100, decision=CUDA13)
    document = json.loads(json.dumps(report.to_json()))
    assert (document["default"], document["silent_cpu"], document["hardware"]) == (
        "cpu",
        True,
        ["H100, compute capability 9.0"],
    )
    assert f"  {INSTALL_CUDA13}" in report.to_text().splitlines()
