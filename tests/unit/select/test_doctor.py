# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`jaxlib-select doctor`: whole environments, made of a few small files, and what is found wrong with them."""

from __future__ import annotations

import itertools
import json
import platform
import re
import shlex
import shutil
import struct
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from jaxlib_select.apply.installer import pip_installer
from jaxlib_select.choose.decision import Candidate, Decision
from jaxlib_select.doctor.choice import Surroundings
from jaxlib_select.doctor.confirm import JaxAnswer, ask_jax, compare, read_answer
from jaxlib_select.doctor.examine import examine, examine_here, find_sources
from jaxlib_select.doctor.predict import Prediction
from jaxlib_select.doctor.report import Report
from jaxlib_select.errors import UsageError
from jaxlib_select.facts import load_facts
from jaxlib_select.installed.environment import Environment, find_interpreter, other_environment, read_environment
from jaxlib_select.machine.model import Amd, Devices, Intel, Machine, Nvidia, NvidiaGpu
from pjrtwheel.backend import load_backends

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
MI300 = replace(NONE, amd=Amd("7.0", ("gfx942",), accessible=True))
FACTS = load_facts("0.11.2")
MAX = replace(NONE, intel=Intel(("8086:0bd5",), level_zero=True))
TPU = Devices(pci=("1ae0:0063",), devices=("/dev/vfio/0",))


BACKENDS = load_backends(Path(__file__).resolve().parents[3])
THIS = f"{sys.version_info.major}{sys.version_info.minor}"  # as in the names of extension modules
HOST_ELF = {"x86_64": 62, "aarch64": 183}.get(platform.machine(), 62)  # e_machine

# What NVIDIA's libraries are known by, and a module in place of our compiled extension, which opens any file.
COMPONENTS = (
    *("cudnnGetVersion", "cudaRuntimeGetVersion", "cublasGetProperty"),
    *("cuptiGetVersion", "cusparseGetProperty", "cufftGetVersion"),
)
EXTENSION = """
import os

def preload(path, _):
    if not os.path.isfile(path):
        raise OSError(f"{path}: cannot open shared object file")

def load(path): return None
def api_version(api): return 0, 115
def extensions(api): return []
def attributes(api): return {}
def library_version(*_): raise RuntimeError("it is made for a test")
"""


# In place of NVIDIA's driver.
MOCK_DRIVER = {
    "cuda/hardware.py": "\nDEVICE_NODES = ('dev/null',)\n",
    "cuda/driver.py": "\ndef ask_driver(wanted, visible): raise explain(803, visible)\n",
}


class Site:
    """A `site-packages` that is put together file by file; what is ours are the loaders of our wheels."""

    def __init__(self, folder: Path, elf: Callable[..., bytes], put_loader: Callable[[str, Path], Path]) -> None:
        """Make the folders, empty."""
        self.folder = folder / "venv/lib/python3.13/site-packages"
        self.folder.mkdir(parents=True)
        self.root = folder / "root"
        self.root.mkdir()
        self.elf = elf
        self.put_loader = put_loader

    def write(self, path: str, content: str | bytes = "") -> Path:
        """Write one file, in the place of a link to one of the loaders' modules."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
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

    def ours(self, name: str, *, lock: str = "1" * 32, libraries: bool = True, **elf: object) -> Site:
        """Install one of our plugins, with the libraries of its vendor."""
        backend = BACKENDS[name]
        self.distribution(backend.distribution, plugin=backend.package)
        self.put_loader(name, self.folder)
        self.write(f"{backend.package}/release_lock.json", lock_text("0.11.2", lock))
        self.write(f"{backend.package}/{backend.library}", self.elf(**elf))
        self.write(f"{backend.package}/pjrt/_pjrt.py", EXTENSION)
        if backend.kernels is not None:
            self.write(f"{backend.kernels.package}/_solver{sysconfig.get_config_var('EXT_SUFFIX')}", self.elf())
        text = (self.folder / backend.package / "toolkit.py").read_text("utf-8") if "cuda" in name else ""
        for soname, folder in re.findall(r'NvidiaLibrary\("([^"]+)", "([^"]+)"', text) if libraries else ():
            self.write(f"nvidia/{folder}/lib/{soname}", self.elf(exports=COMPONENTS))
        return self

    def upstream(
        self, backend: str, platform: str, kernels: str = "0.11.2", source: str = "", needed: Sequence[str] = ()
    ) -> Site:
        """Install one of upstream's plugins, in the namespace package."""
        package = f"jax_plugins/xla_{backend}"
        self.distribution(f"jax-{backend}-pjrt", record=f"{package}/__init__.py")
        self.distribution(f"jax-{backend}-plugin", kernels)
        register = f"def initialize():\n    xb.register_plugin('{platform}', priority=500)\n"
        self.write(f"{package}/__init__.py", f"{source}\n{register}")
        self.write(f"{package}/plugin.so", loadable_elf("GetPjrtApi", needed=needed))
        return self

    def node(self, path: str = "dev/nvidia0") -> Site:
        """Make a device node."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).touch()
        return self

    def environment(self) -> Environment:
        """Return it as the doctor reads it: a folder before the standard library of this Python."""
        stdlib = Path(sysconfig.get_path("stdlib"))
        paths = [self.folder, stdlib, stdlib / "lib-dynload"]
        return read_environment(
            paths, python=Path(sys.executable), version=sys.version_info[:3], prefix=self.folder.parents[2]
        )

    def examine(
        self,
        machine: Machine = NONE,
        variables: Mapping[str, str] | None = None,
        decision: Decision | None = None,
        sources: tuple[str, ...] = (),
    ) -> Report:
        """Run the doctor, for a machine that is described."""
        around = Surroundings(machine, FACTS, variables or {}, decision, described=True, root=self.root)
        return examine(self.environment(), around, replace(pip_installer(PYTHON), sources=sources))


def loadable_elf(*exports: str, needed: Sequence[str] = ()) -> bytes:
    """Return a shared library that the dynamic linker loads: one segment with the tables that it reads."""
    texts = [*exports, *needed]
    names = b"\0" + b"".join(text.encode() + b"\0" for text in texts)
    at = {text: names.index(b"\0" + text.encode() + b"\0") + 1 for text in texts}
    symbols = bytes(24) + b"".join(struct.pack("<IBBHQQ", at[name], 0x12, 0, 1, 0x40, 8) for name in exports)
    count = 1 + len(exports)
    chains = struct.pack(f"<{3 + count}I", 1, count, count - 1, *(max(index - 1, 0) for index in range(count)))
    parts = [part + bytes(-len(part) % 8) for part in (symbols, chains, names)]
    symbols_at, chains_at, names_at, dynamic_at = itertools.accumulate(map(len, parts), initial=64 + 2 * 56)
    entries = [*((1, at[name]) for name in needed), (4, chains_at), (5, names_at), (6, symbols_at)]
    entries += [(10, len(names)), (11, 24), (0, 0)]
    dynamic = b"".join(struct.pack("<qQ", *entry) for entry in entries)
    size = dynamic_at + len(dynamic)
    segments = struct.pack("<IIQQQQQQ", 1, 6, 0, 0, 0, size, size, 0x1000)
    segments += struct.pack("<IIQQQQQQ", 2, 6, *[dynamic_at] * 3, *[len(dynamic)] * 2, 8)
    header = struct.pack("<HHIQQQIHHHHHH", 3, HOST_ELF, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    return b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + header + segments + b"".join(parts) + dynamic


def lock_text(release: str, lock: str) -> str:
    """Return a release lock."""
    return json.dumps({"schema": 1, "release": release, "build": 1, "provider": "prebuilt", "lock_id": lock})


def codes(report: Report) -> list[str]:
    """Return the codes of the findings."""
    return [finding.code for finding in report.findings]


@pytest.fixture
def site(tmp_path: Path, make_elf: Callable[..., bytes], put_loader: Callable[[str, Path], Path]) -> Site:
    """Return an empty environment."""
    return Site(tmp_path, make_elf, put_loader)


def test_a_good_cpu_environment_has_nothing_to_fix(site: Site) -> None:
    """JAX, our jaxlib and our plugin, on a machine without accelerators."""
    report = site.jax().ours("cpu").examine()
    assert (report.findings, report.prediction.default, report.exit_code) == ((), "cpu", 0)
    assert report.versions == {"jax": "0.11.2", "jaxlib": "0.11.2", "jaxlib-cpu": "0.11.2"}
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
    assert [(finding.code, finding.remedy) for finding in report.findings] == [
        ("silent-cpu", "export JAX_PLATFORMS=cpu  # if that is meant")
    ]
    assert "too old" in report.findings[0].what


@pytest.mark.parametrize(
    ("jaxlib", "lock", "problem", "remedy"),
    [
        (
            "0.11.2",
            "2" * 32,
            f"jaxlib-cpu 0.11.2 (lock {'1' * 32}, prebuilt) and jaxlib 0.11.2 (lock {'2' * 32}, prebuilt) are not of",
            AGAIN,
        ),
        ("0.11.2", "", "jaxlib has no readable release lock: ", AGAIN),
        ("0.11.1", "", "jaxlib-cpu 0.11.2 cannot run with jaxlib 0.11.1", SET),
        ("0.11.1", "1" * 32, "jaxlib-cpu 0.11.2 cannot run with jaxlib 0.11.1", SET),
    ],
)
def test_wheels_of_different_sets_are_named(site: Site, jaxlib: str, lock: str, problem: str, remedy: str) -> None:
    """The plugin refuses in its own words, so the first use of JAX fails; the remedy installs what fits together."""
    report = site.jax(jaxlib=jaxlib, lock=lock).ours("cpu").examine()
    finding = report.findings[0]
    assert (finding.code, finding.what[: len(problem)]) == ("lock-mismatch", problem)
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
    assert report.findings[0].remedy == f"/venv/bin/python -m pip install {AGAIN} jaxlib-cpu==0.11.2{SOURCE}"


def test_wheels_that_all_refuse_are_one_error(site: Site) -> None:
    """With the one cause, and one command that keeps what only this machine needs."""
    site.jax(lock="2" * 32).ours("cpu").ours("cuda13").node()
    (finding,) = site.examine(H100, decision=CUDA13).findings
    assert finding.what.count("are not of one build") == 2
    assert (
        finding.remedy == f"/venv/bin/python -m pip install {AGAIN} jaxlib-cpu==0.11.2 jaxlib-cuda-13==0.11.2{SOURCE}"
    )


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
    (site.folder / "jaxlib_cuda_13/xla_cuda_plugin.so").unlink()


def take_another_build(site: Site) -> None:
    """Let the plugin be one that was not built with jaxlib."""
    site.write("jaxlib_cuda_13/release_lock.json", lock_text("0.11.2", "2" * 32))


def add_a_second(site: Site) -> None:
    """Install a plugin for the same platform."""
    site.ours("cuda12")


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


def test_metadata_twice_in_one_folder(site: Site) -> None:
    """An upgrade was cut off."""
    site.jax().ours("cpu").distribution("jaxlib", "0.11.1")
    report = site.examine()
    (remedy,) = (finding.remedy for finding in report.findings if finding.code == "doubled-metadata")
    assert remedy == f"/venv/bin/python -m pip install {AGAIN}{SOURCE}", "not the version that does not fit"


def test_leftovers_of_another_version_are_removed(site: Site) -> None:
    """What is installed next to them stays."""
    site.jax().ours("cpu").write("jaxlib-0.11.1.dist-info/INSTALLER", "uv")
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
    site.jax().ours("cpu").distribution("jaxlib-cuda-13")
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
    assert (report.prediction.default, report.prediction.platforms) == (None, ())
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
    (given,) = site.examine(H100, decision=CUDA13, sources=("--find-links", "dist")).findings
    (known,) = site.examine(H100, {"PIP_FIND_LINKS": "dist"}, CUDA13).findings
    (mirror,) = site.examine(H100, {"PIP_INDEX_URL": "mirror"}, CUDA13).findings
    (other,) = site.examine(H100, {"UV_FIND_LINKS": "dist"}, CUDA13).findings
    assert given.remedy == command.format("--find-links dist ")
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


@pytest.mark.parametrize(
    ("lock", "expected"), [("1" * 32, ["plugin-silent"]), ("2" * 32, ["lock-mismatch", "plugin-silent"])]
)
def test_a_plugin_that_is_too_old_to_be_asked(site: Site, lock: str, expected: list[str]) -> None:
    """It refuses the argument; its lock is compared with that of jaxlib all the same."""
    site.jax().ours("cpu", lock=lock)
    site.write("jaxlib_cpu/__main__.py", "raise SystemExit(2)\n")
    library = site.write("jaxlib_cpu/pjrt_c_api_cpu_plugin.so", loadable_elf("GetPjrtApi"))
    report = site.examine()
    assert codes(report) == expected
    assert report.prediction.default == (None if len(expected) > 1 else "cpu")
    assert report.findings[-1].what == (
        "jaxlib-cpu does not say what it finds (status 2), so only its files were looked at"
    )
    library.write_bytes(b"no library\n" * 100)
    assert f"{library} cannot be used: {library}: invalid ELF header" in [
        finding.what for finding in site.examine().findings
    ]
    library.unlink()
    assert "library-missing" in codes(site.examine())


def test_a_plugin_that_answers_in_another_form(site: Site) -> None:
    """As one that is newer than this program may."""
    site.jax().ours("cpu")
    site.write("jaxlib_cpu/pjrt_c_api_cpu_plugin.so", loadable_elf("GetPjrtApi"))
    site.write("jaxlib_cpu/__main__.py", "print('{\"schema\": 2}')\n")
    report = site.examine()
    assert (codes(report), report.prediction.default) == (["plugin-silent"], "cpu")


def test_a_plugin_that_crashes_when_it_opens_its_libraries(site: Site) -> None:
    """What it says without opening them counts, and JAX would crash as well, where it has the hardware."""
    site.jax().ours("cpu")
    crash = "import os\ndef load(path): os.kill(os.getpid(), 11)\n"
    site.write("jaxlib_cpu/pjrt/_pjrt.py", crash)
    around = Surroundings(NONE, FACTS, root=site.root)
    report = examine(site.environment(), around, pip_installer(PYTHON))
    assert [(finding.level, finding.what) for finding in report.findings] == [
        ("error", "jaxlib-cpu crashes or hangs when it opens its libraries")
    ]
    assert (report.prediction.default, report.plugins[0].priority) == (None, 0)


def test_a_plugin_that_cannot_be_imported(site: Site) -> None:
    """JAX goes on without it; the line is named."""
    site.jax().ours("cpu").write("jaxlib_cpu/__init__.py", "raise ImportError('boom')\n")
    report = site.examine()
    (finding,) = report.findings
    assert (finding.level, finding.code, report.prediction.default) == ("warning", "plugin-fails", "cpu")
    assert f"ImportError: boom in line 1 of {site.folder / 'jaxlib_cpu/__init__.py'}" in finding.what


def test_a_driver_that_does_not_start(site: Site) -> None:
    """In the words of the plugin, with its remedy; not where another machine is meant."""
    site.jax().ours("cuda13")
    for module, text in MOCK_DRIVER.items():
        path = f"jaxlib_cuda_13/{module}"
        site.write(path, (site.folder / path).read_text("utf-8") + text)
    around = Surroundings(H100, FACTS, decision=CUDA13, root=site.root)
    report = examine(site.environment(), around, pip_installer(PYTHON))
    finding = report.findings[0]
    assert (finding.code, finding.what) == (
        "unfit-backend",
        "jaxlib-cuda-13 does not run here: NVIDIA's driver does not start: cuInit failed with status 803",
    )
    assert finding.remedy == "reboot, or take the other libcuda.so.1 out of LD_LIBRARY_PATH"
    assert (report.prediction.default, site.node().examine(H100, decision=CUDA13).prediction.default) == (None, "cuda")


def test_a_driver_that_hangs_is_not_asked_again(site: Site) -> None:
    """What detection found out about it counts, and no process of ours waits for it."""
    site.jax().ours("cuda13").node()
    hung = replace(H100, nvidia=Nvidia(libcuda="hung", pci=("10de:2330",)))
    report = examine(site.environment(), Surroundings(hung, FACTS, root=site.root), pip_installer(PYTHON))
    assert (codes(report), report.prediction.error) == (["unfit-backend"], "cuda: libcuda did not answer in time")


def test_a_plugin_without_its_extension_module(site: Site) -> None:
    """Nothing else opens its library, so the first use of JAX fails."""
    site.jax().ours("cpu")
    (site.folder / "jaxlib_cpu/pjrt/_pjrt.py").unlink()
    report = site.examine()
    (finding,) = report.findings
    assert (finding.level, finding.code, report.prediction.default) == ("error", "extension-missing", None)
    assert finding.what == "cannot import the extension of jaxlib-cpu: No module named 'jaxlib_cpu.pjrt._pjrt'"
    assert finding.remedy == (f"/venv/bin/python -m pip install --force-reinstall --no-deps jaxlib-cpu==0.11.2{SOURCE}")


@pytest.mark.parametrize(
    ("recorded", "there", "level", "remedy"),
    [
        ((THIS, "399"), (THIS, "399"), "", ""),
        (("398", "399"), ("398", "399"), "warning", "use a Python that it has them for: 3.98, 3.99"),
        ((THIS, "399"), ("399",), "error", "--force-reinstall --no-deps jaxlib-cuda-13==0.11.2"),
        ((THIS, "399"), (), "error", "--force-reinstall --no-deps jaxlib-cuda-13==0.11.2"),
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
        "jaxlib-cpu 0.11.2 is incomplete, it lacks jaxlib_cpu/gone.py",
    )


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
    (finding,) = site.examine(NONE, {"LD_LIBRARY_PATH": str(bad.parent)}).findings
    assert (finding.level, finding.code, finding.remedy) == ("warning", "library-foreign", "unset LD_LIBRARY_PATH")
    assert finding.what == f"LD_LIBRARY_PATH: {bad}: invalid ELF header"


def test_a_plugin_takes_from_the_wheels_first_what_it_opens(site: Site) -> None:
    """By path, so LD_LIBRARY_PATH does not matter."""
    site.jax().ours("cuda13").node()
    other = site.write("elsewhere/libcudnn.so.9", site.elf(exports=COMPONENTS))
    report = site.examine(H100, {"LD_LIBRARY_PATH": str(other.parent)}, CUDA13)
    (path,) = (entry.path for entry in report.libraries["jaxlib-cuda-13"] if entry.name == "libcudnn.so.9")
    assert (path, report.findings) == (str(site.folder / "nvidia/cudnn/lib/libcudnn.so.9"), ())


def test_switched_off(site: Site) -> None:
    """The variable is named."""
    site.jax().ours("cuda13").node()
    report = site.examine(H100, {"JAXLIB_CUDA_13_DISABLE": "1"}, CUDA13)
    assert codes(report) == ["silent-cpu", "switched-off"]
    assert report.findings[1].remedy == "unset JAXLIB_CUDA_13_DISABLE"


def test_a_driver_that_is_too_old_for_the_plugin(site: Site) -> None:
    """What the rules of the vendor say is the reason."""
    site.jax().ours("cuda13").node()
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


def test_a_regular_package_hides_the_namespace(site: Site) -> None:
    """Plugins in other folders are invisible then."""
    site.jax(lock="").upstream("cuda12", "cuda")
    other = site.folder.parent / "other"
    (other / "jax_plugins").mkdir(parents=True)
    (other / "jax_plugins/__init__.py").touch()
    environment = read_environment([other, site.folder], python=PYTHON, version=(3, 13, 0))
    report = examine(environment, Surroundings(NONE, FACTS, root=site.root), pip_installer(PYTHON))
    assert report.plugins == ()
    assert "namespace-hidden" in codes(report)


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
    assert codes(site.examine()) == []


def test_a_plugin_without_some_of_its_vendors_libraries(site: Site) -> None:
    """JAX starts, and the programs that need them fail."""
    site.jax().ours("cuda13").node()
    (site.folder / "nvidia/cu13/lib/libcusolver.so.12").unlink()
    (finding,) = site.examine(H100, decision=CUDA13).findings
    assert (finding.level, finding.code, finding.remedy) == ("warning", "library-not-found", INSTALL_CUDA13)
    assert "cusolver is missing (libcusolver.so.12)" in finding.what


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
def test_what_google_makes_next_to_tpus_is_none(site: Site, device: str) -> None:
    """Its network card and its disks are on every machine of its cloud, with or without libtpu."""
    site.jax().write("libtpu/libtpu.so", b"")
    report = site.examine(replace(NONE, tpu=Devices(pci=(device,))))
    assert (report.hardware, report.prediction.default, report.findings) == ((), "cpu", ())
    assert report.prediction.platforms[1].reason == f"{device} is a device of Google's, but no TPU"


@pytest.mark.parametrize(
    ("backend", "platform", "machine", "outcome", "reason"),
    [
        (
            "oneapi",
            "oneapi",
            replace(NONE, intel=Intel(("8086:46a6",), level_zero=True)),
            "absent",
            "no discrete Intel",
        ),
        (
            "oneapi",
            "oneapi",
            replace(NONE, intel=Intel(("8086:0bd5",), level_zero=False)),
            "fails",
            "not Level Zero",
        ),
        ("oneapi", "oneapi", replace(NONE, intel=Intel(("8086:0bd5",), level_zero=True)), "serves", ""),
        (
            "rocm7",
            "rocm",
            replace(NONE, amd=Amd("7.0", ("gfx942",), accessible=False)),
            "fails",
            "may not be opened",
        ),
        ("rocm7", "rocm", replace(NONE, amd=Amd("7.0", ("gfx942",), accessible=True)), "serves", ""),
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


@pytest.mark.parametrize(
    ("prediction", "answer", "expected"),
    [
        (Prediction("cpu", ()), JaxAnswer("cpu", ("cpu",), ("cpu:0",)), ("warning", "prediction")),
        (Prediction("cuda", ()), JaxAnswer("cpu", ("cpu",)), ("error", "prediction")),
        (Prediction("cpu", ()), JaxAnswer(error="boom"), ("error", "jax-fails")),
        (Prediction(None, (), "bad"), JaxAnswer(error="boom"), ("note", "jax-fails")),
        (Prediction(None, (), "bad"), JaxAnswer("cpu"), ("warning", "prediction")),
    ],
)
def test_the_real_jax_has_the_last_word(prediction: Prediction, answer: JaxAnswer, expected: tuple[str, str]) -> None:
    """A difference between prediction and JAX is reported; a CPU instead of an accelerator is an error."""
    (finding,) = compare(prediction, answer)
    assert (finding.level, finding.code) == expected


def test_what_only_jax_knows_is_fixed_by_installing_again(site: Site) -> None:
    """A plugin that raises when it is imported looks like any other; what another rule fixes needs no more."""
    report = site.jax().ours("cuda13").node().examine(H100, decision=CUDA13)
    again = f"/venv/bin/python -m pip install {AGAIN.replace('jaxlib', 'jax==0.11.2 jaxlib')} jaxlib-cuda-13==0.11.2"
    assert report.renewal == again + SOURCE
    for answer, codes_ in (
        (
            JaxAnswer("cpu", ("cpu",), complaints=("it could not be loaded: ImportError: boom",)),
            ["plugin-fails", "prediction"],
        ),
        (JaxAnswer("cpu", ("cpu",)), ["prediction"]),
        (JaxAnswer(error="boom"), ["jax-fails"]),
    ):
        found = list(compare(report.prediction, answer, renewal=report.renewal))
        assert [finding.code for finding in found] == codes_
        assert [finding.remedy for finding in found] == [report.renewal, ""][: len(found)]
        explained = list(compare(report.prediction, answer, renewal=report.renewal, explained=True))
        assert [(finding.code, finding.remedy) for finding in explained] == [(codes_[-1], "")]


def test_a_jax_that_crashes_or_hangs(tmp_path: Path) -> None:
    """The process is ended, and its last line is what is reported."""
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


def test_the_folder_of_an_environment_means_its_python(tmp_path: Path) -> None:
    """Where `venv` puts it."""
    program = tmp_path / "bin/python"
    program.parent.mkdir()
    program.symlink_to(sys.executable)
    assert find_interpreter(tmp_path) == program
    assert other_environment(tmp_path).version == sys.version_info[:3]


def test_an_accelerator_that_the_installed_release_lacks_is_reported(
    site: Site, add_release: Callable[..., None]
) -> None:
    """With the newest release that has its package; the facts are those of the release that is installed."""
    add_release("1.0")
    add_release("1.1", oneapi="no file")
    environment = site.jax("1.1", "1.1").environment()
    report = examine_here(environment, MAX, described=True, kind="pip")
    (finding,) = [finding for finding in report.findings if finding.code == "absent-backend"]
    assert (finding.level, report.exit_code, report.prediction.default) == ("warning", 0, "cpu")
    assert finding.what == (
        "JAX will run on the CPU: there is no wheel of jaxlib-oneapi 1.1 for Linux on x86_64, no file; "
        "the newest that has it is jax==1.0"
    )
    command = finding.remedy.removesuffix(SOURCE)
    assert shlex.split(command)[-2:] == ["jax==1.0", "jaxlib-oneapi[with-oneapi]==1.0"]


def test_in_a_release_that_has_the_package_no_other_is_offered(site: Site, add_release: Callable[..., None]) -> None:
    """Though the newest lacks it: it is missing here, which is what the doctor says."""
    add_release("1.0")
    add_release("1.1", oneapi="no file")
    report = examine_here(site.jax("1.0", "1.0").environment(), MAX, described=True, kind="pip")
    assert [(finding.code, finding.what.rpartition(": ")[2]) for finding in report.findings] == [
        ("silent-cpu", "jaxlib-oneapi is not installed")
    ]


def test_a_plugin_that_the_release_lacks_is_not_brought_to_it(site: Site, add_release: Callable[..., None]) -> None:
    """There is no such wheel: JAX and jaxlib follow the plugin."""
    add_release("0.11.2")
    add_release("0.12", oneapi="no file")
    site.jax("0.12", "0.12", lock="2" * 32).ours("oneapi")
    report = examine_here(site.environment(), MAX, described=True, kind="pip")
    (finding,) = [finding for finding in report.findings if finding.code == "lock-mismatch"]
    assert shlex.split(finding.remedy.removesuffix(SOURCE))[-3:] == [
        "jax==0.11.2",
        "jaxlib==0.11.2",
        "jaxlib-oneapi==0.11.2",
    ]
