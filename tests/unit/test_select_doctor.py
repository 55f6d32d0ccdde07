# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`jaxlib-select doctor`: whole environments, made of a few small files, and what is found wrong with them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from jaxlib_select.decision import Candidate, Decision
from jaxlib_select.doctor.child import Answer, ask_jax, compare, read_answer
from jaxlib_select.doctor.environment import Environment, other_environment, read_environment
from jaxlib_select.doctor.examine import Surroundings, examine
from jaxlib_select.doctor.forecast import Prediction
from jaxlib_select.doctor.report import Report
from jaxlib_select.errors import UsageError
from jaxlib_select.install.commands import pip_installer
from jaxlib_select.machine import Machine, Nvidia, NvidiaGpu, Tpu

PYTHON = Path("/venv/bin/python")
H100 = Machine(os="linux", arch="x86_64", nvidia=Nvidia(cuda=(13, 0), cuinit=0, gpus=(NvidiaGpu((9, 0), "H100"),)))
NONE = Machine(os="linux", arch="x86_64")
CUDA13 = Decision(
    package="jaxlib-cuda-13",
    backend="cuda13",
    requirements=("jax==0.11.2", "jaxlib-cuda-13[with-cuda]==0.11.2"),
    candidates=(Candidate("cuda13", chosen=True, reason="serves H100"),),
)
INSTALL_CUDA13 = "/venv/bin/python -m pip install jax==0.11.2 'jaxlib-cuda-13[with-cuda]==0.11.2'"
NAMES = {"jaxlib_cpu": "jaxlib-cpu", "jaxlib_cuda_12": "jaxlib-cuda-12", "jaxlib_cuda_13": "jaxlib-cuda-13"}


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

    def distribution(self, name: str, version: str = "0.11.2", plugin: str = "", record: str = "") -> None:
        """Write the metadata of a distribution."""
        info = f"{name.replace('-', '_')}-{version}.dist-info"
        self.write(f"{info}/METADATA", f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n")
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
        unfit: Mapping[str, str] | None = None,
    ) -> Report:
        """Run the doctor."""
        around = Surroundings(machine, variables or {}, decision, unfit or {}, NAMES, self.root)
        return examine(self.environment(), around, pip_installer(PYTHON))


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
        ("silent-cpu", "export JAX_PLATFORMS=cpu  (if that is meant)")
    ]
    assert "too old" in report.findings[0].what


@pytest.mark.parametrize(
    ("jaxlib", "lock", "problem"),
    [
        ("0.11.2", "2" * 32, f"it is of the build {'1' * 32}, and jaxlib is of the build {'2' * 32}"),
        ("0.11.2", "", "the installed jaxlib has no release lock: it was not built together with the plugin"),
        ("0.11.1", "", "it is for jaxlib 0.11.2, and jaxlib 0.11.1 is installed"),
        ("0.11.1", "1" * 32, "it is for jaxlib 0.11.2, and jaxlib 0.11.1 is installed"),
    ],
)
def test_wheels_of_different_sets_are_named(site: Site, jaxlib: str, lock: str, problem: str) -> None:
    """The plugin refuses, so the first use of JAX fails; the remedy installs a pair."""
    report = site.jax(jaxlib=jaxlib, lock=lock).ours("jaxlib_cpu", "cpu", 0).examine()
    finding = report.findings[0]
    assert (finding.code, finding.what) == ("lock-mismatch", f"jaxlib-cpu refuses to serve: {problem}")
    assert finding.remedy.startswith(
        "/venv/bin/python -m pip install --force-reinstall --no-deps jaxlib==0.11.2 jaxlib-cpu==0.11.2"
    )
    assert (report.prediction.default, report.exit_code) == (None, 1)


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
    assert codes(report) == ["plugin-gone", "silent-cpu"]
    assert report.findings[0].remedy == (
        "/venv/bin/python -m pip install --force-reinstall --no-deps jaxlib-cuda-13==0.11.2"
    )


def test_a_plugin_whose_metadata_is_gone(site: Site) -> None:
    """JAX does not find it, and no installer removes it."""
    site.jax().write("jaxlib_cuda_12/plugin.so", site.elf())
    report = site.examine()
    assert codes(report) == ["plugin-left-behind"]
    assert str(site.folder / "jaxlib_cuda_12") in report.findings[0].what


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
    assert report.findings[0].what.startswith(f"{library} is damaged: cut off")


def test_metadata_twice_in_one_folder(site: Site) -> None:
    """An upgrade was cut off."""
    site.jax().distribution("jaxlib", "0.11.1")
    assert "doubled-metadata" in codes(site.examine())


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
    report = site.examine()
    assert [(finding.code, finding.remedy) for finding in report.findings] == [
        ("jax-missing", "/venv/bin/python -m pip install jax"),
        ("jaxlib-missing", "/venv/bin/python -m pip install jaxlib"),
    ]


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
    report = site.examine(H100, decision=cuda12, unfit={"jaxlib-cuda-13": "the driver is too old"})
    (finding,) = report.findings
    assert (finding.code, finding.what) == ("unfit-backend", "jaxlib-cuda-13 does not run here: the driver is too old")
    assert finding.remedy == "/venv/bin/python -m pip install jaxlib-cuda-12==0.11.2"


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
    report = examine(environment, Surroundings(NONE, {}, root=site.root), pip_installer(PYTHON))
    assert report.plugins == ()
    assert "namespace-hidden" in codes(report)


def test_libraries_and_where_they_come_from(site: Site) -> None:
    """The order is the dynamic linker's; a file of a wheel that LD_LIBRARY_PATH shadows is named."""
    site.jax().ours(
        "jaxlib_cuda_13", "cuda", 500, needed=["libc.so.6", "libfoo.so.1", "libgone.so.2"], runpath="$ORIGIN/../foo"
    )
    wheel = site.write("foo/libfoo.so.1", b"")
    site.write("jaxlib_cuda_13/toolkit.py", 'LIBRARIES = ("libbar.so.3",)\n')
    bar = site.write("nvidia/cu13/lib/libbar.so.3", b"")
    elsewhere = site.write("elsewhere/libfoo.so.1", b"")
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
    site.write("nvidia/cu13/lib/libcudart.so.13")
    (partial,) = site.examine(H100, decision=CUDA13).findings
    assert (partial.level, partial.code) == ("warning", "library-not-found")


def test_a_tpu_machine_asks_for_tpu_by_itself(site: Site) -> None:
    """With libtpu, JAX sets its platforms to `tpu,cpu`."""
    site.jax().write("libtpu/libtpu.so", b"")
    tpu = Machine(os="linux", arch="x86_64", tpu=Tpu(pci=("1ae0:0063",), devices=("/dev/vfio/0",)))
    assert site.examine(tpu).prediction.default == "tpu"


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


def test_another_environment_is_asked_for_its_path(tmp_path: Path) -> None:
    """An interpreter that is none is a clear error."""
    with pytest.raises(UsageError, match="not a usable Python"):
        other_environment(tmp_path / "python")
