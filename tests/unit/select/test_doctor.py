# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`jaxlib-select doctor`: whole environments, made of a few small files, and what is found wrong with them."""

from __future__ import annotations

import json
import shutil
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from jaxlib_select.apply.installer import pip_installer
from jaxlib_select.choose.decision import Candidate, Decision
from jaxlib_select.doctor.child import Answer, ask_jax, compare, read_answer
from jaxlib_select.doctor.examine import Surroundings, examine
from jaxlib_select.doctor.forecast import Prediction
from jaxlib_select.doctor.here import find_sources
from jaxlib_select.doctor.report import Report
from jaxlib_select.errors import UsageError
from jaxlib_select.facts import load_facts
from jaxlib_select.installed.elf import Misfit, find_misfit
from jaxlib_select.installed.environment import Environment, find_interpreter, other_environment, read_environment
from jaxlib_select.machine.model import Amd, Devices, Intel, Machine, Nvidia, NvidiaGpu

PYTHON = Path("/venv/bin/python")
H100 = Machine(os="linux", arch="x86_64", nvidia=Nvidia(cuda=(13, 0), cuinit=0, gpus=(NvidiaGpu((9, 0), "H100"),)))
NONE = Machine(os="linux", arch="x86_64")
CUDA13 = Decision(
    package="jaxlib-cuda-13",
    backend="cuda13",
    requirements=("jax==0.11.2", "jaxlib-cuda-13[with-cuda]==0.11.2"),
    candidates=(Candidate("cuda13", chosen=True, reason="serves H100"),),
)
SOURCE = "  # with --find-links DIR or --index-url URL, where our wheels are"
INSTALL_CUDA13 = f"/venv/bin/python -m pip install jax==0.11.2 'jaxlib-cuda-13[with-cuda]==0.11.2'{SOURCE}"
SET = "jax==0.11.2 jaxlib==0.11.2"  # after which the plugins of 0.11.2 fit
AGAIN = "--force-reinstall --no-deps jaxlib==0.11.2"
FACTS = load_facts("0.11.2")
TPU = Devices(pci=("1ae0:0063",), devices=("/dev/vfio/0",))


class Site:
    """A `site-packages` that is put together file by file."""

    def __init__(self, folder: Path, elf: Callable[..., bytes]) -> None:
        """Make the folders, empty."""
        self.folder = folder / "venv/lib/python3.13/site-packages"
        self.folder.mkdir(parents=True)
        self.root = folder / "root"
        self.root.mkdir()
        self.elf = elf

    def write(self, path: str, content: str | bytes = "") -> Path:
        """Write one file."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
        return target

    def distribution(
        self, name: str, version: str = "0.11.2", plugin: str = "", record: str = "", requires: Sequence[str] = ()
    ) -> None:
        """Write the metadata of a distribution."""
        info = f"{name.replace('-', '_')}-{version}.dist-info"
        needs = "".join(f"Requires-Dist: {text}\n" for text in requires)
        self.write(f"{info}/METADATA", f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n{needs}")
        if record:
            self.write(f"{info}/RECORD", "".join(f"{line},,\n" for line in record.split()))
        if plugin:
            self.write(f"{info}/entry_points.txt", f"[jax_plugins]\nit = {plugin}\n")

    def jax(self, version: str = "0.11.2", jaxlib: str = "0.11.2", lock: str = "1" * 32) -> Site:
        """Install JAX and our jaxlib, or with an empty lock upstream's."""
        self.distribution("jax", version)
        self.write("jax/version.py", '_version = "0.11.2"\n_minimum_jaxlib_version = "0.11.1"\n')
        self.distribution("jaxlib", jaxlib)
        self.write("jaxlib/__init__.py")
        if lock:
            self.write("jaxlib/release_lock.json", lock_text(jaxlib, lock))
        return self

    def ours(self, package: str, platform: str, priority: int, *, lock: str = "1" * 32, **elf: object) -> Site:
        """Install one of our plugins."""
        self.distribution(package.replace("_", "-"), plugin=package)
        self.write(f"{package}/__init__.py", f'PLUGIN = Plugin(name="{platform}")\nPRIORITY = {priority}\n')
        self.write(f"{package}/release_lock.json", lock_text("0.11.2", lock))
        self.write(f"{package}/plugin.so", self.elf(**elf))
        self.write(f"{package}/pjrt/_pjrt.abi3.so", self.elf(exports=["PyInit__pjrt"]))
        return self

    def upstream(self, backend: str, platform: str, kernels: str = "0.11.2") -> Site:
        """Install one of upstream's plugins, in the namespace package."""
        package = f"jax_plugins/xla_{backend}"
        self.distribution(f"jax-{backend}-pjrt", record=f"{package}/__init__.py")
        self.distribution(f"jax-{backend}-plugin", kernels)
        self.write(f"{package}/__init__.py", f"def initialize():\n    xb.register_plugin('{platform}', priority=500)\n")
        self.write(f"{package}/plugin.so", self.elf())
        return self

    def node(self, path: str = "dev/nvidia0") -> Site:
        """Make a device node."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).touch()
        return self

    def environment(self) -> Environment:
        """Return it as the doctor reads it."""
        return read_environment([self.folder], python=PYTHON, version=(3, 13, 0), prefix=self.folder.parents[2])

    def examine(
        self,
        machine: Machine = NONE,
        variables: Mapping[str, str] | None = None,
        decision: Decision | None = None,
        sources: tuple[str, ...] = (),
    ) -> Report:
        """Run the doctor."""
        around = Surroundings(machine, variables or {}, FACTS, decision, self.root)
        return examine(self.environment(), around, replace(pip_installer(PYTHON), sources=sources))


def lock_text(release: str, lock: str) -> str:
    """Return a release lock."""
    return json.dumps({"schema": 1, "release": release, "build": 1, "provider": "prebuilt", "lock_id": lock})


def codes(report: Report) -> list[str]:
    """Return the codes of the findings."""
    return [finding.code for finding in report.findings]


@pytest.fixture
def site(tmp_path: Path, make_elf: Callable[..., bytes]) -> Site:
    """Return an empty environment."""
    return Site(tmp_path, make_elf)


def test_a_good_cpu_environment_has_nothing_to_mend(site: Site) -> None:
    """JAX, our jaxlib and our plugin, on a machine without accelerators."""
    report = site.jax().ours("jaxlib_cpu", "cpu", 0).examine()
    assert (report.findings, report.prediction.default, report.exit_code) == ((), "cpu", 0)
    assert report.versions == {"jax": "0.11.2", "jaxlib": "0.11.2", "jaxlib-cpu": "0.11.2"}
    (plugin,) = report.plugins
    assert (plugin.module, plugin.sources, plugin.platform, plugin.priority) == (
        "jaxlib_cpu",
        ("entry point",),
        "cpu",
        0,
    )
    assert plugin.libraries == (site.folder / "jaxlib_cpu/plugin.so",)


def test_a_good_gpu_environment_runs_on_the_gpu(site: Site) -> None:
    """The platform with the highest priority is the default."""
    report = site.jax().ours("jaxlib_cuda_13", "cuda", 500).node().examine(H100, decision=CUDA13)
    assert (report.findings, report.prediction.default, report.exit_code) == ((), "cuda", 0)
    assert [(entry.platform, entry.outcome) for entry in report.prediction.forecasts] == [
        ("cpu", "serves"),
        ("tpu", "absent"),
        ("cuda", "serves"),
    ]


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
    """Somebody who wonders why is told."""
    site.jax().ours("jaxlib_cuda_13", "cuda", 500).node()
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
    report = site.jax().ours("jaxlib_cpu", "cpu", 0).node().examine(H100, decision=cpu)
    assert [(finding.code, finding.remedy) for finding in report.findings] == [
        ("silent-cpu", "export JAX_PLATFORMS=cpu  # if that is meant")
    ]
    assert "too old" in report.findings[0].what


@pytest.mark.parametrize(
    ("jaxlib", "lock", "problem", "remedy"),
    [
        ("0.11.2", "2" * 32, f"it is of the build {'1' * 32}, and jaxlib is of the build {'2' * 32}", AGAIN),
        ("0.11.2", "", "the installed jaxlib has no release lock: it was not built together with the plugin", AGAIN),
        ("0.11.1", "", "it is for jaxlib 0.11.2, and jaxlib 0.11.1 is installed", SET),
        ("0.11.1", "1" * 32, "it is for jaxlib 0.11.2, and jaxlib 0.11.1 is installed", SET),
    ],
)
def test_wheels_of_different_sets_are_named(site: Site, jaxlib: str, lock: str, problem: str, remedy: str) -> None:
    """The plugin refuses, so the first use of JAX fails; the remedy installs what fits together."""
    report = site.jax(jaxlib=jaxlib, lock=lock).ours("jaxlib_cpu", "cpu", 0).examine()
    finding = report.findings[0]
    assert (finding.code, finding.what) == ("lock-mismatch", f"jaxlib-cpu refuses to serve: {problem}")
    assert finding.remedy == f"/venv/bin/python -m pip install {remedy} jaxlib-cpu==0.11.2{SOURCE}"
    assert (report.prediction.default, report.exit_code) == (None, 1)


@pytest.mark.parametrize(
    ("jax", "jaxlib", "lock", "code", "remedy"),
    [
        ("0.10.2", "0.10.2", "", "lock-mismatch", f"{SET} jaxlib-cpu==0.11.2{SOURCE}"),
        ("0.10.2", "0.11.2", "1" * 32, "jaxlib-mismatch", f"{SET} jaxlib-cpu==0.11.2{SOURCE}"),
        ("0.11.2", "", "", "jaxlib-missing", f"{SET} jaxlib-cpu==0.11.2{SOURCE}"),
        (
            "0.10.2",
            "0.11.2",
            "",
            "jaxlib-mismatch",
            f"{AGAIN} jaxlib-cpu==0.11.2 && /venv/bin/python -m pip install {SET} jaxlib-cpu==0.11.2{SOURCE}",
        ),
    ],
)
def test_one_remedy_for_the_whole_set(site: Site, jax: str, jaxlib: str, lock: str, code: str, remedy: str) -> None:
    """Whoever follows it gets what fits together at once: no step of it leads back."""
    site.jax(jax, jaxlib, lock).ours("jaxlib_cpu", "cpu", 0)
    site.write("jax/version.py", f'_version = "{jax}"')
    if not jaxlib:
        for path in ("jaxlib", "jaxlib-.dist-info"):
            shutil.rmtree(site.folder / path)
    report = site.examine()
    assert [(finding.code, finding.remedy) for finding in report.findings] == [
        (code, f"/venv/bin/python -m pip install {remedy}")
    ]


def test_wheels_that_all_refuse_are_one_error(site: Site) -> None:
    """With the one cause, and one command that keeps what only this machine needs."""
    site.jax(lock="2" * 32).ours("jaxlib_cpu", "cpu", 0).ours("jaxlib_cuda_13", "cuda", 500).node()
    (finding,) = site.examine(H100, decision=CUDA13).findings
    assert finding.what.count("refuses to serve") == 2
    assert (
        finding.remedy == f"/venv/bin/python -m pip install {AGAIN} jaxlib-cpu==0.11.2 jaxlib-cuda-13==0.11.2{SOURCE}"
    )


def test_what_is_to_be_removed_is_not_mended(site: Site) -> None:
    """An old plugin for the platform of another one is told of once."""
    site.jax().ours("jaxlib_cuda_12", "cuda", 500, lock="2" * 32).ours("jaxlib_cuda_13", "cuda", 500).node()
    (finding,) = site.examine(H100, decision=CUDA13).findings
    assert (finding.code, finding.remedy) == (
        "doubled-backend",
        "/venv/bin/python -m pip uninstall -y jaxlib-cuda-12",
    )


def test_two_of_our_plugins_for_one_platform(site: Site) -> None:
    """The newer one serves, as the loaders agree among themselves; the other is to be removed."""
    site.jax().ours("jaxlib_cuda_12", "cuda", 500).ours("jaxlib_cuda_13", "cuda", 500).node()
    report = site.examine(H100, decision=CUDA13)
    (finding,) = report.findings
    assert (finding.code, finding.remedy) == (
        "doubled-backend",
        "/venv/bin/python -m pip uninstall -y jaxlib-cuda-12",
    )
    assert report.prediction.forecasts[-1].provider == "jaxlib-cuda-13"


def test_upstreams_plugin_beside_ours(site: Site) -> None:
    """Ours stands back; upstream's two distributions are removed together, ours is the one for this machine."""
    site.jax().upstream("cuda12", "cuda").ours("jaxlib_cuda_13", "cuda", 500).node()
    report = site.examine(H100, decision=CUDA13)
    (finding,) = report.findings
    assert finding.what == (
        "jax-cuda12-pjrt and jaxlib-cuda-13 are both for JAX's platform 'cuda', and JAX can take only one"
    )
    assert finding.remedy == "/venv/bin/python -m pip uninstall -y jax-cuda12-pjrt jax-cuda12-plugin"
    assert report.prediction.forecasts[-1].provider == "jax-cuda12-pjrt"


def test_kernels_without_their_plugin(site: Site) -> None:
    """JAX imports kernels of CUDA 13 before those of 12, whoever they belong to."""
    site.jax().ours("jaxlib_cpu", "cpu", 0).distribution("jax-cuda13-plugin")
    assert codes(site.examine()) == ["stale-kernels"]


def test_kernels_of_another_version(site: Site) -> None:
    """JAX does not use them, and says so in a warning only."""
    (finding,) = site.jax(lock="").upstream("cuda12", "cuda", kernels="0.11.1").examine().findings
    assert (finding.code, finding.remedy) == (
        "kernel-mismatch",
        "/venv/bin/python -m pip install jax-cuda12-plugin==0.11.2",
    )


def test_a_half_removed_plugin_still_announces_itself(site: Site) -> None:
    """The metadata is there, the module is not: JAX logs that and goes on without."""
    site.jax().distribution("jaxlib-cuda-13", plugin="jaxlib_cuda_13")
    report = site.node().examine(H100, decision=CUDA13)
    assert codes(report) == ["silent-cpu", "plugin-gone"]
    assert report.findings[1].remedy == (
        f"/venv/bin/python -m pip install --force-reinstall --no-deps jaxlib-cuda-13==0.11.2{SOURCE}"
    )
    assert report.findings[0].what.endswith("jaxlib-cuda-13 is installed, but JAX leaves it out")


def lose_files(site: Site) -> None:
    """Remove the package, and leave its metadata."""
    shutil.rmtree(site.folder / "jaxlib_cuda_13")


def lose_metadata(site: Site) -> None:
    """Remove the metadata, and leave its package."""
    shutil.rmtree(site.folder / "jaxlib_cuda_13-0.11.2.dist-info")


def damage_metadata(site: Site) -> None:
    """Leave an empty file."""
    site.write("jaxlib_cuda_13-0.11.2.dist-info/METADATA")


def lose_library(site: Site) -> None:
    """Remove the library."""
    (site.folder / "jaxlib_cuda_13/plugin.so").unlink()


def take_another_build(site: Site) -> None:
    """Let the plugin be one that was not built with jaxlib."""
    site.write("jaxlib_cuda_13/release_lock.json", lock_text("0.11.2", "2" * 32))


def add_a_second(site: Site) -> None:
    """Install a plugin for the same platform."""
    site.ours("jaxlib_cuda_12", "cuda", 500)


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
    change(site.jax().ours("jaxlib_cpu", "cpu", 0).ours("jaxlib_cuda_13", "cuda", 500))
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
    site.jax().write("jaxlib_cuda_13/plugin.so", site.elf())
    report = site.node().examine(H100, decision=CUDA13)
    assert [(finding.code, finding.remedy) for finding in report.findings] == [
        ("silent-cpu", INSTALL_CUDA13),
        ("plugin-left-behind", INSTALL_CUDA13),
    ]


def test_a_plugin_without_its_library(site: Site) -> None:
    """Our loader refuses."""
    site.jax().ours("jaxlib_cpu", "cpu", 0)
    (site.folder / "jaxlib_cpu/plugin.so").unlink()
    report = site.examine()
    assert (codes(report), report.prediction.default) == (["library-missing"], None)


def test_a_truncated_library(site: Site) -> None:
    """It is named, with what is wrong with it."""
    site.jax().ours("jaxlib_cpu", "cpu", 0)
    library = site.folder / "jaxlib_cpu/plugin.so"
    library.write_bytes(library.read_bytes()[:200])
    report = site.examine()
    assert (codes(report), report.exit_code) == (["library-damaged"], 1)
    assert report.findings[0].what == f"{library} cannot be used: it is a library whose end is missing"


def test_metadata_twice_in_one_folder(site: Site) -> None:
    """An upgrade was cut off."""
    site.jax().ours("jaxlib_cpu", "cpu", 0).distribution("jaxlib", "0.11.1")
    report = site.examine()
    (remedy,) = (finding.remedy for finding in report.findings if finding.code == "doubled-metadata")
    assert remedy == f"/venv/bin/python -m pip install {AGAIN}{SOURCE}", "not the version that does not fit"


def test_remains_of_another_version_are_removed(site: Site) -> None:
    """What is installed beside them stays."""
    site.jax().ours("jaxlib_cpu", "cpu", 0).write("jaxlib-0.11.1.dist-info/INSTALLER", "uv")
    (finding,) = site.examine().findings
    assert (finding.code, finding.remedy) == ("damaged-metadata", f"rm -r {site.folder / 'jaxlib-0.11.1.dist-info'}")


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
    site.jax().ours("jaxlib_cpu", "cpu", 0).distribution("jaxlib-cuda-13")
    site.write(f"jaxlib_cuda_13-0.11.2.dist-info/{name}", content)
    report = site.examine()
    assert (codes(report), report.prediction.default) == (expected, "cpu")
    again = f"/venv/bin/python -m pip install --force-reinstall --no-deps jaxlib-cuda-13==0.11.2{SOURCE}"
    folder = site.folder / "jaxlib_cuda_13-0.11.2.dist-info"
    assert [finding.remedy for finding in report.findings] == [f"rm -r {folder} && {again}"] * len(expected)


@pytest.mark.parametrize(
    ("version", "jaxlib", "what"),
    [
        ("0.11.1", "0.11.2", "jaxlib 0.11.2 is newer than jax 0.11.1, which JAX refuses"),
        ("0.11.2", "0.11.0", "jax 0.11.2 needs jaxlib 0.11.1 at least, and jaxlib 0.11.0 is installed"),
    ],
)
def test_a_wrong_jaxlib(site: Site, version: str, jaxlib: str, what: str) -> None:
    """JAX refuses to be imported; both rules are JAX's own."""
    assert [finding.what for finding in site.jax(version, jaxlib, lock="").examine().findings] == [what]


def test_no_jax_at_all(site: Site) -> None:
    """An empty environment is an answer too."""
    report = site.node().examine(H100, decision=CUDA13)
    (finding,) = report.findings
    assert (finding.code, finding.what, finding.remedy) == (
        "jax-missing",
        "jax and jaxlib are not installed",
        INSTALL_CUDA13,
    )
    assert (report.prediction.default, report.prediction.forecasts) == (None, ())
    assert "serves" not in report.to_text()
    assert "JAX        cannot be imported: jax and jaxlib are not installed" in report.to_text().splitlines()


@pytest.mark.parametrize(
    ("name", "release", "remedy"),
    [
        ("jaxlib", "0.11.2", INSTALL_CUDA13),
        ("jax", "0.11.2", INSTALL_CUDA13),
        ("jax", "0.10.0", "/venv/bin/python -m pip install jax==0.10.0 jaxlib==0.10.0"),
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


NEEDS = ("numpy>=2.1", "scipy (>=1.15)", "opt_einsum", "jaxlib<=0.11.2,>=0.11.2", 'x; extra == "y"', "ml_dtypes != 1.0")


def test_what_jax_needs_and_is_not_there(site: Site) -> None:
    """JAX cannot be imported; one command brings all of it, and what has metadata, but no files, again."""
    site.jax().ours("jaxlib_cpu", "cpu", 0)
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
    site.jax().ours("jaxlib_cpu", "cpu", 0)
    site.distribution("jax", requires=("numpy>=2.1",))
    site.distribution("numpy", "1.26.4")
    site.distribution("jaxlib-cpu", plugin="jaxlib_cpu", requires=("abacus>1,<2", "jaxlib==0.11.2"))
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
    """As the options say, and without a remark where a variable of the installer does."""
    command = "/venv/bin/python -m pip install {}jax==0.11.2 'jaxlib-cuda-13[with-cuda]==0.11.2'"
    (told,) = site.examine(H100, decision=CUDA13, sources=("--find-links", "dist")).findings
    (known,) = site.examine(H100, {"PIP_FIND_LINKS": "dist"}, CUDA13).findings
    (mirror,) = site.examine(H100, {"PIP_INDEX_URL": "mirror"}, CUDA13).findings
    (other,) = site.examine(H100, {"UV_FIND_LINKS": "dist"}, CUDA13).findings
    assert told.remedy == command.format("--find-links dist ")
    assert known.remedy == command.format("")
    assert mirror.remedy == other.remedy == INSTALL_CUDA13


def test_a_jaxlib_of_the_same_version_that_is_not_ours_is_replaced(site: Site) -> None:
    """Installers would take it for what is wanted."""
    report = site.jax(lock="").node().examine(H100, decision=CUDA13, sources=("--find-links", "dist"))
    assert report.findings[0].remedy == (
        "/venv/bin/python -m pip install --find-links dist --force-reinstall --no-deps jaxlib==0.11.2 && "
        "/venv/bin/python -m pip install --find-links dist jax==0.11.2 'jaxlib-cuda-13[with-cuda]==0.11.2' "
        "jaxlib==0.11.2"
    )


def test_the_folder_that_the_wheels_came_from(site: Site, tmp_path: Path) -> None:
    """An installer that was given a file wrote that down (PEP 610); upstream's jaxlib is no reason to go there."""
    site.jax()
    dist = tmp_path / "our wheels"
    dist.mkdir()
    site.write("jaxlib-0.11.2.dist-info/direct_url.json", json.dumps({"url": (dist / "jaxlib.whl").as_uri()}))
    assert find_sources(site.environment()) == ("--find-links", str(dist))
    (site.folder / "jaxlib/release_lock.json").unlink()
    assert find_sources(site.environment()) == ()


def test_a_plugin_without_its_extension_module(site: Site) -> None:
    """Nothing else opens its library, so the first use of JAX fails."""
    site.jax().ours("jaxlib_cpu", "cpu", 0)
    (site.folder / "jaxlib_cpu/pjrt/_pjrt.abi3.so").unlink()
    report = site.examine()
    (finding,) = report.findings
    assert (finding.level, finding.code, report.prediction.default) == ("error", "extension-missing", None)
    assert finding.what == (
        "jaxlib-cpu has no extension module pjrt/_pjrt.abi3.so, without which it cannot open its library"
    )
    assert finding.remedy == (f"/venv/bin/python -m pip install --force-reinstall --no-deps jaxlib-cpu==0.11.2{SOURCE}")


@pytest.mark.parametrize(
    ("recorded", "there", "level", "remedy"),
    [
        (("312", "313"), ("312", "313"), "", ""),
        (("312", "314"), ("312", "314"), "warning", "use a Python that it has them for: 3.12, 3.14"),
        (("312", "313"), ("312",), "error", "--force-reinstall --no-deps jaxlib-cuda-13==0.11.2"),
        (("312", "313"), (), "error", "--force-reinstall --no-deps jaxlib-cuda-13==0.11.2"),
    ],
)
def test_kernels_for_this_python(
    site: Site, recorded: tuple[str, ...], there: tuple[str, ...], level: str, remedy: str
) -> None:
    """Lost ones are an error that a new installation mends; those that the wheel never had ask for another Python."""
    site.jax().ours("jaxlib_cuda_13", "cuda", 500).node()
    kernels = "jax_cuda13_plugin/_solver.cpython-{}-x86_64-linux-gnu.so"
    site.write("jaxlib_cuda_13/accelerator.py", 'KERNELS = Kernels("jax_cuda13_plugin", "cuda_plugin_extension")\n')
    site.distribution("jaxlib-cuda-13", plugin="jaxlib_cuda_13", record=" ".join(map(kernels.format, recorded)))
    for python in there:
        site.write(kernels.format(python), site.elf())
    found = [(finding.level, finding.code) for finding in site.examine(H100, decision=CUDA13).findings]
    assert found == ([(level, "kernels-missing")] if level else [])
    for finding in site.examine(H100, decision=CUDA13).findings:
        assert finding.what.startswith("jaxlib-cuda-13 has no GPU kernels for Python 3.13: JAX runs, but solvers")
        assert remedy in finding.remedy


def test_code_that_is_gone(site: Site) -> None:
    """What was installed and another Python's kernels do not count."""
    site.jax().ours("jaxlib_cpu", "cpu", 0)
    record = "jaxlib_cpu/__init__.py jaxlib_cpu/gone.py jaxlib_cpu/notes.txt k/_solver.cpython-312-x.so"
    site.distribution("jaxlib-cpu", plugin="jaxlib_cpu", record=record)
    (finding,) = site.examine().findings
    assert (finding.level, finding.code, finding.what) == (
        "error",
        "files-missing",
        "jaxlib-cpu 0.11.2 is incomplete, it lacks jaxlib_cpu/gone.py",
    )


def header(site: Site, **changes: int) -> bytes:
    """Return a library with a changed ELF header: e_ident's class and data, and e_type."""
    data = bytearray(site.elf(**{key: changes[key] for key in ("machine", "kind") if key in changes}))
    data[4:6] = bytes((changes.get("bits", 2), changes.get("order", 1)))
    return bytes(data)


@pytest.mark.parametrize(
    ("changes", "what", "passed_over"),
    [
        ({}, None, False),
        ({"machine": 183}, "a library for aarch64", True),
        ({"machine": 999}, "a library for another processor (ELF machine 999)", True),
        ({"machine": 3, "bits": 1}, "a 32-bit library for x86", True),
        ({"order": 2, "machine": 62 << 8}, "a big-endian library for x86_64", False),
        ({"kind": 1}, "an object file, not yet linked", False),
        ({"kind": 2}, "a program, not a library", False),
        ({"kind": 77}, "an ELF file of type 77", False),
    ],
)
def test_elf_headers(site: Site, changes: dict[str, int], what: str | None, passed_over: bool) -> None:  # noqa: FBT001
    """The linker passes over libraries of other processors only."""
    misfit = find_misfit(site.write("it.so", header(site, **changes)), "x86_64")
    assert misfit == (None if what is None else Misfit(what, passed_over))


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "an empty file"),
        (b"GROUP ( libx.so.1 )\n", "a text file"),
        ("n\u00e9".encode() * 21 + b"\xc3", "a text file"),
        (b"MZ\x90\0\x03", "no ELF file"),
        (b"\xff" * 64, "no ELF file"),
        (b"\x7fELF\x02\x01", "a library whose end is missing"),
    ],
)
def test_files_that_are_no_libraries(site: Site, content: bytes, what: str) -> None:
    """They are called what they are."""
    assert find_misfit(site.write("it.so", content), "x86_64") == Misfit(what)


def test_a_library_whose_end_is_missing(site: Site) -> None:
    """Its headers are whole, and speak of more than is there."""
    data = site.elf()
    (size,) = struct.unpack_from("<Q", data, 64 + 32)  # p_filesz of the first segment
    assert find_misfit(site.write("whole.so", data[:size]), "x86_64") is None
    assert find_misfit(site.write("short.so", data[: size - 1]), "x86_64") == Misfit("a library whose end is missing")


def test_a_plugin_library_for_another_processor(site: Site) -> None:
    """The plugin refuses it, and so does the doctor."""
    report = site.jax().ours("jaxlib_cpu", "cpu", 0, machine=183).examine()
    (finding,) = report.findings
    library = site.folder / "jaxlib_cpu/plugin.so"
    assert (finding.code, finding.what) == (
        "library-damaged",
        f"{library} cannot be used: it is a library for aarch64",
    )
    assert report.prediction.default is None


@pytest.mark.parametrize(
    ("kind", "path", "expected"),
    [
        ("text", "elsewhere", ("error", "unfit-backend")),
        ("foreign", "foo", ("note", "library-foreign")),
    ],
)
def test_what_is_no_library_on_the_search_path(site: Site, kind: str, path: str, expected: tuple[str, str]) -> None:
    """A text file stops the dynamic linker; a library for another processor does not."""
    site.jax().ours("jaxlib_cuda_13", "cuda", 500, needed=["libfoo.so.1"], runpath="$ORIGIN/../foo").node()
    site.write("foo/libfoo.so.1", site.elf())
    bad = site.write("elsewhere/libfoo.so.1", b"no library\n" if kind == "text" else site.elf(machine=183))
    report = site.examine(H100, {"LD_LIBRARY_PATH": str(bad.parent)}, CUDA13)
    (finding,) = report.findings
    (entry,) = report.libraries["jaxlib-cuda-13"]
    assert (entry.path, (finding.level, finding.code)) == (site.folder / path / "libfoo.so.1", expected)
    what, remedy = {
        "text": (f"jaxlib-cuda-13 does not run here: {bad} is a text file, not libfoo.so.1", "unset LD_LIBRARY_PATH"),
        "foreign": (f"LD_LIBRARY_PATH: {bad} is a library for aarch64, which is passed over", ""),
    }[kind]
    assert (finding.what, finding.remedy) == (what, remedy)


def test_a_driver_that_is_no_library(site: Site) -> None:
    """Where no GPU is seen, that may be why."""
    site.jax().ours("jaxlib_cuda_13", "cuda", 500)
    site.write("jaxlib_cuda_13/toolkit.py", 'LIBRARIES = ("libcuda.so.1",)\n')
    bad = site.write("elsewhere/libcuda.so.1", b"no library\n")
    (finding,) = site.examine(NONE, {"LD_LIBRARY_PATH": str(bad.parent)}).findings
    assert (finding.level, finding.what) == (
        "warning",
        f"LD_LIBRARY_PATH leads to {bad}, which is a text file: libcuda.so.1 cannot be loaded",
    )


def test_a_plugin_takes_from_the_wheels_first_what_it_opens(site: Site) -> None:
    """By path, so LD_LIBRARY_PATH does not matter."""
    site.jax().ours("jaxlib_cuda_13", "cuda", 500).node()
    site.write("jaxlib_cuda_13/toolkit.py", 'LIBRARIES = ("libbar.so.3",)\n')
    wheel = site.write("nvidia/cu13/lib/libbar.so.3", site.elf())
    other = site.write("elsewhere/libbar.so.3", site.elf())
    report = site.examine(H100, {"LD_LIBRARY_PATH": str(other.parent)}, CUDA13)
    (entry,) = report.libraries["jaxlib-cuda-13"]
    assert (entry.path, report.findings) == (wheel, ())


def test_switched_off(site: Site) -> None:
    """The variable is named."""
    site.jax().ours("jaxlib_cuda_13", "cuda", 500).node()
    report = site.examine(H100, {"JAXLIB_CUDA_13_DISABLE": "1"}, CUDA13)
    assert codes(report) == ["silent-cpu", "switched-off"]
    assert report.findings[1].remedy == "unset JAXLIB_CUDA_13_DISABLE"


def test_a_driver_that_is_too_old_for_the_plugin(site: Site) -> None:
    """What the rules of the vendor say is the reason."""
    site.jax().ours("jaxlib_cuda_13", "cuda", 500).node()
    cuda12 = Decision("jaxlib-cuda-12", "cuda12", ("jaxlib-cuda-12==0.11.2",), ())
    report = site.examine(replace(H100, nvidia=replace(H100.nvidia, cuda=(12, 4))), decision=cuda12)
    (finding,) = report.findings
    assert (finding.code, finding.what) == (
        "unfit-backend",
        "jaxlib-cuda-13 does not run here: needs a driver for CUDA 13.0, this one serves CUDA 12.4",
    )
    assert finding.remedy == (
        "/venv/bin/python -m pip install jaxlib-cuda-12==0.11.2 && "
        f"/venv/bin/python -m pip uninstall -y jaxlib-cuda-13{SOURCE}"
    )


def test_jax_platforms_asks_for_what_is_not_there(site: Site) -> None:
    """JAX fails loudly, as foretold."""
    report = site.jax().examine(variables={"JAX_PLATFORMS": "rocm"})
    assert [(finding.what, finding.remedy) for finding in report.findings] == [
        ("JAX_PLATFORMS=rocm asks for 'rocm', which nothing installed registers", "export JAX_PLATFORMS=cpu")
    ]


def test_jax_platforms_gpu_asks_for_all_gpus(site: Site) -> None:
    """JAX expands the alias and wants each of the platforms: a trap of its own."""
    site.jax().ours("jaxlib_cuda_13", "cuda", 500).node()
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
    library = site.write("mine.so", site.elf())
    config = site.write("mine.json", json.dumps({"library_path": str(library)}))
    report = site.jax().examine(variables={"PJRT_NAMES_AND_LIBRARY_PATHS": f"mine:{config}"})
    assert (report.prediction.default, report.findings) == ("mine", ())


def test_a_regular_package_hides_the_namespace(site: Site) -> None:
    """Plugins in other folders are invisible then."""
    site.jax(lock="").upstream("cuda12", "cuda")
    other = site.folder.parent / "other"
    (other / "jax_plugins").mkdir(parents=True)
    (other / "jax_plugins/__init__.py").touch()
    environment = read_environment([other, site.folder], python=PYTHON, version=(3, 13, 0))
    report = examine(environment, Surroundings(NONE, {}, FACTS, root=site.root), pip_installer(PYTHON))
    assert report.plugins == ()
    assert "namespace-hidden" in codes(report)


def test_libraries_and_where_they_come_from(site: Site) -> None:
    """The order is the dynamic linker's; a file of a wheel that LD_LIBRARY_PATH shadows is named."""
    site.jax().ours(
        "jaxlib_cuda_13", "cuda", 500, needed=["libc.so.6", "libfoo.so.1", "libgone.so.2"], runpath="$ORIGIN/../foo"
    )
    wheel = site.write("foo/libfoo.so.1", site.elf())
    site.write("jaxlib_cuda_13/toolkit.py", 'LIBRARIES = ("libbar.so.3",)\n')
    bar = site.write("nvidia/cu13/lib/libbar.so.3", site.elf())
    elsewhere = site.write("elsewhere/libfoo.so.1", site.elf())
    report = site.node().examine(H100, {"LD_LIBRARY_PATH": str(elsewhere.parent)}, CUDA13)
    assert [(entry.name, entry.path, entry.origin, entry.how) for entry in report.libraries["jaxlib-cuda-13"]] == [
        ("libfoo.so.1", elsewhere, "LD_LIBRARY_PATH", "needed"),
        ("libgone.so.2", None, "", "needed"),
        ("libbar.so.3", bar, "wheel", "opened"),
    ]
    assert [(finding.level, finding.code) for finding in report.findings] == [
        ("error", "unfit-backend"),
        ("warning", "library-shadowed"),
    ]
    assert report.findings[0].what.endswith("its libraries are nowhere on the search path: libgone.so.2")
    assert str(wheel) in report.findings[1].what


def test_a_plugin_without_its_vendors_libraries(site: Site) -> None:
    """On the hardware its first use fails, and the remedy brings them; elsewhere nobody is bothered."""
    site.jax().ours("jaxlib_cuda_13", "cuda", 500).node()
    source = '"""As in `f("libexample.so.1")`."""\nLIBRARIES = ("libcuda.so.1", "libcudart.so.13", "libcudnn.so.9")\n'
    site.write("jaxlib_cuda_13/toolkit.py", source)
    report = site.examine(H100, decision=CUDA13)
    assert [(finding.code, finding.remedy) for finding in report.findings] == [("unfit-backend", INSTALL_CUDA13)]
    assert report.prediction.error.endswith("nowhere on the search path: libcudart.so.13, libcudnn.so.9")
    assert codes(site.examine()) == []
    site.write("nvidia/cu13/lib/libcudart.so.13", site.elf())
    (partial,) = site.examine(H100, decision=CUDA13).findings
    assert (partial.level, partial.code) == ("warning", "library-not-found")


def test_a_tpu_machine_asks_for_tpu_by_itself(site: Site) -> None:
    """With libtpu, JAX sets its platforms to `tpu,cpu`."""
    site.jax().write("libtpu/libtpu.so", b"")
    report = site.examine(replace(NONE, tpu=TPU))
    assert (report.prediction.default, report.hardware) == ("tpu", ("TPU 1ae0:0063",))


def test_a_tpu_without_its_device_fails(site: Site) -> None:
    """JAX asks for `tpu,cpu` by the PCI bus alone."""
    site.jax().write("libtpu/libtpu.so", b"")
    report = site.examine(replace(NONE, tpu=replace(TPU, devices=())))
    assert (report.prediction.default, codes(report), report.exit_code) == (None, ["unfit-backend"], 1)


@pytest.mark.parametrize("device", ["1ae0:0042", "1ae0:001f"])
def test_what_google_makes_beside_tpus_is_none(site: Site, device: str) -> None:
    """Its network card and its disks are on every machine of its cloud, with or without libtpu."""
    site.jax().write("libtpu/libtpu.so", b"")
    report = site.examine(replace(NONE, tpu=Devices(pci=(device,))))
    assert (report.hardware, report.prediction.default, report.findings) == ((), "cpu", ())
    assert report.prediction.forecasts[1].reason == f"{device} is a device of Google's, but no TPU"


@pytest.mark.parametrize(
    ("package", "platform", "machine", "outcome", "reason"),
    [
        (
            "jaxlib_oneapi",
            "oneapi",
            replace(NONE, intel=Intel(("8086:46a6",), level_zero=True)),
            "absent",
            "no discrete Intel",
        ),
        (
            "jaxlib_oneapi",
            "oneapi",
            replace(NONE, intel=Intel(("8086:0bd5",), level_zero=False)),
            "fails",
            "not Level Zero",
        ),
        ("jaxlib_oneapi", "oneapi", replace(NONE, intel=Intel(("8086:0bd5",), level_zero=True)), "serves", ""),
        (
            "jaxlib_rocm_7",
            "rocm",
            replace(NONE, amd=Amd("7.0", ("gfx942",), accessible=False)),
            "fails",
            "may not be opened",
        ),
        ("jaxlib_rocm_7", "rocm", replace(NONE, amd=Amd("7.0", ("gfx942",), accessible=True)), "serves", ""),
        ("jaxlib_cuda_13", "cuda", replace(H100, nvidia=Nvidia(cuinit=803)), "fails", "(cuInit 803)"),
        ("jaxlib_cuda_13", "cuda", replace(H100, nvidia=Nvidia(cuinit=100, pci=("10de:2330",))), "absent", "no GPU"),
    ],
)
def test_the_vendors_rules_are_the_only_ones(
    site: Site, package: str, platform: str, machine: Machine, outcome: str, reason: str
) -> None:
    """What is there and cannot be used fails, as the plugin does; what counts for nothing is absent."""
    forecast = site.jax().ours(package, platform, 500).node().examine(machine).prediction.forecasts[-1]
    assert (forecast.platform, forecast.outcome) == (platform, outcome)
    assert reason in forecast.reason


def test_the_report_is_json_and_text(site: Site) -> None:
    """Everything in it can be written down."""
    report = site.jax().ours("jaxlib_cpu", "cpu", 0).node().examine(H100, decision=CUDA13)
    document = json.loads(json.dumps(report.to_json()))
    assert (document["default"], document["silent_cpu"], document["hardware"]) == (
        "cpu",
        True,
        ["H100, compute capability 9.0"],
    )
    assert f"  {INSTALL_CUDA13}" in report.to_text().splitlines()


@pytest.mark.parametrize(
    ("prediction", "answer", "expected"),
    [
        (Prediction("cpu", ()), Answer("cpu", ("cpu",), ("cpu:0",)), ("warning", "forecast")),
        (Prediction("cuda", ()), Answer("cpu", ("cpu",)), ("error", "forecast")),
        (Prediction("cpu", ()), Answer(error="boom"), ("error", "jax-fails")),
        (Prediction(None, (), "bad"), Answer(error="boom"), ("note", "jax-fails")),
        (Prediction(None, (), "bad"), Answer("cpu"), ("warning", "forecast")),
    ],
)
def test_the_real_jax_has_the_last_word(prediction: Prediction, answer: Answer, expected: tuple[str, str]) -> None:
    """A difference between forecast and JAX is told; a CPU instead of an accelerator is an error."""
    (finding,) = compare(prediction, answer)
    assert (finding.level, finding.code) == expected


def test_what_only_jax_knows_is_mended_by_installing_again(site: Site) -> None:
    """A plugin that raises when it is imported looks like any other; what another rule mends needs no more."""
    report = site.jax().ours("jaxlib_cuda_13", "cuda", 500).node().examine(H100, decision=CUDA13)
    again = f"/venv/bin/python -m pip install {AGAIN.replace('jaxlib', 'jax==0.11.2 jaxlib')} jaxlib-cuda-13==0.11.2"
    assert report.renewal == again + SOURCE
    for answer, codes_ in (
        (
            Answer("cpu", ("cpu",), complaints=("it could not be loaded: ImportError: boom",)),
            ["plugin-fails", "forecast"],
        ),
        (Answer("cpu", ("cpu",)), ["forecast"]),
        (Answer(error="boom"), ["jax-fails"]),
    ):
        found = list(compare(report.prediction, answer, renewal=report.renewal))
        assert [finding.code for finding in found] == codes_
        assert [finding.remedy for finding in found] == [report.renewal, ""][: len(found)]
        explained = list(compare(report.prediction, answer, renewal=report.renewal, explained=True))
        assert [(finding.code, finding.remedy) for finding in explained] == [(codes_[-1], "")]


def test_a_jax_that_crashes_or_hangs(tmp_path: Path) -> None:
    """The child is ended, and its last line is what is told."""
    crashing, hanging = tmp_path / "crash", tmp_path / "hang"
    crashing.write_text("#!/bin/sh\necho 'Fatal: boom' >&2\nexit 139\n")
    hanging.write_text("#!/bin/sh\nexec sleep 60\n")
    for program in (crashing, hanging):
        program.chmod(0o755)
    assert ask_jax(crashing, {}).error == "JAX ended with status 139: Fatal: boom"
    assert ask_jax(hanging, {"PATH": "/bin:/usr/bin"}, 0.2).error == "JAX did not start within 0 seconds"
    assert ask_jax(tmp_path / "absent", {}).error.startswith("cannot run")
    assert read_answer("[1]\n", "", 0).error == "JAX ended with status 0: no message"


def test_what_jax_does_not_say_is_found_out(tmp_path: Path) -> None:
    """Where an error without a word comes from, and what JAX logs about plugins that it goes on without."""
    module = tmp_path / "jax/_src/xla_bridge.py"
    module.parent.mkdir(parents=True)
    module.write_text(
        "import logging\n\nlog = logging.getLogger(__name__)\nlog.warning('else')\n"
        "log.warning('Jax plugin configuration error: Plugin module x does not exist')\n"
        "try:\n    raise ImportError('boom')\nexcept ImportError:\n"
        "    log.exception('Jax plugin configuration error: y')\n\n\ndef backends():\n    assert not log\n"
    )
    answer = ask_jax(Path(sys.executable), {"PYTHONPATH": str(tmp_path)})
    assert answer.error == f"AssertionError in line 13 of {module}: assert not log"
    assert answer.complaints == (
        "Jax plugin configuration error: Plugin module x does not exist",
        f"Jax plugin configuration error: y: ImportError: boom in line 7 of {module}: raise ImportError('boom')",
    )


def test_what_is_no_interpreter_is_said_in_one_line(tmp_path: Path) -> None:
    """A folder, a file, a program that fails, and one that is another."""

    def refusal(name: str, content: str = "", mode: int = 0o755) -> str:
        path = tmp_path / name
        if content:
            path.write_text(content, "utf-8")
            path.chmod(mode)
        with pytest.raises(UsageError) as caught:
            other_environment(path)
        return str(caught.value).replace(str(tmp_path), "PATH")

    assert refusal("") == "no Python in the folder PATH: neither bin/python nor Scripts/python.exe is there"
    assert refusal("absent") == "no such Python: PATH/absent"
    assert refusal("text", "text", 0o644) == "not a Python interpreter: PATH/text is a file that cannot be run"
    assert refusal("lost", "#!/nowhere\n") == "not a Python interpreter: PATH/lost (No such file or directory)"
    assert refusal("garbage", "garbage") == "not a Python interpreter: PATH/garbage (Exec format error)"
    assert refusal("other", "#!/bin/sh\necho 1\n") == "not a Python interpreter: PATH/other does not answer as one"
    failing = "#!/bin/sh\necho 'Fatal Python error: no encodings' >&2\nexit 1\n"
    assert refusal("failing", failing) == (
        "not a usable Python: PATH/failing ended with status 1: Fatal Python error: no encodings"
    )


def test_the_folder_of_an_environment_stands_for_its_python(tmp_path: Path) -> None:
    """Where `venv` puts it."""
    program = tmp_path / "bin/python"
    program.parent.mkdir()
    program.symlink_to(sys.executable)
    assert find_interpreter(tmp_path) == program
    assert other_environment(tmp_path).version == sys.version_info[:3]
