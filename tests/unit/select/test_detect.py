# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Detection on machines that are described by files, an environment and answers of programs."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from folders import write_files
from jaxlib_select.choose.policy import read_policy
from jaxlib_select.choose.resolve import resolve
from jaxlib_select.choose.rules import visible_value
from jaxlib_select.errors import UsageError
from jaxlib_select.machine.detect import detect
from jaxlib_select.machine.file import parse_machine, to_json
from jaxlib_select.machine.host import Host, ProcessResult, this_host
from jaxlib_select.machine.model import Amd, Devices, Intel, Machine, Nvidia, NvidiaGpu
from jaxlib_select.machine.process import run
from jaxlib_select.machine.query import read_answer

LIBCUDA = "/usr/lib/x86_64-linux-gnu/libcuda.so.1"
NVML = "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"
NODE = "/sys/class/kfd/kfd/topology/nodes"
H100 = NvidiaGpu((9, 0), "NVIDIA H100")

MakeHost = Callable[..., Host]


class Programs:
    """A process runner with an answer for each program, by a word of its command."""

    def __init__(self, answers: Mapping[str, ProcessResult]) -> None:
        """Remember the answers, and which were asked for."""
        self.answers = answers
        self.asked: list[str] = []

    def __call__(self, command: Sequence[str], environ: Mapping[str, str], timeout: float) -> ProcessResult:
        """Answer by the first word that occurs in the command; a program without an answer is absent."""
        del environ, timeout
        words = [word for word in self.answers if any(word in part for part in command)]
        self.asked += words[:1]
        return self.answers[words[0]] if words else ProcessResult(None)


@pytest.fixture
def make_host(tmp_path: Path) -> MakeHost:
    """Return a factory of hosts: path → text of its files, answers of programs by a word of their command."""

    def make(
        files: Mapping[str, str | bytes] | None = None,
        programs: Mapping[str, ProcessResult] | None = None,
        **given: object,
    ) -> Host:
        write_files(tmp_path, {name.lstrip("/"): content for name, content in (files or {}).items()})
        return Host(root=str(tmp_path), run=Programs(programs or {}), can_open=os.path.exists, **given)  # type: ignore[arg-type]

    return make


def pci(address: str, vendor: str, device: str, kind: str = "0x030000") -> dict[str, str]:
    """Return the files of one device on the PCI bus."""
    folder = f"/sys/bus/pci/devices/{address}"
    return {f"{folder}/vendor": f"{vendor}\n", f"{folder}/device": f"{device}\n", f"{folder}/class": f"{kind}\n"}


def said(*lines: str, status: int = 0) -> ProcessResult:
    """Return what a program that printed these lines became."""
    return ProcessResult(status, "\n".join(lines) + "\n")


def test_a_machine_with_nothing_starts_no_program(make_host: MakeHost) -> None:
    """No library, no program, no device: no child process either."""
    host = make_host()
    assert detect(host) == Machine("linux", "x86_64", nvidia=Nvidia(libcuda="absent"))
    assert host.run.asked == []  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("system", "machine", "arch"),
    [
        ("linux", "aarch64", "aarch64"),
        ("linux", "arm64", "aarch64"),
        ("darwin", "arm64", "arm64"),
        ("windows", "AMD64", "x86_64"),
        ("windows", "ARM64", "arm64"),
        ("freebsd14", "amd64", "x86_64"),
    ],
)
def test_processors_have_one_name_each(make_host: MakeHost, system: str, machine: str, arch: str) -> None:
    """As wheels spell them."""
    found = detect(make_host(system=system, machine=machine))
    assert (found.os, found.arch) == (system, arch)


@pytest.mark.parametrize(
    ("files", "given", "expected"),
    [
        ({"/etc/nv_tegra_release": ""}, {}, {"tegra"}),
        ({}, {"kernel": "5.15.136-tegra"}, {"tegra"}),
        ({"/proc/device-tree/compatible": "nvidia,p3737\0nvidia,tegra234\0"}, {}, {"tegra"}),
        ({}, {"kernel": "6.6.87.2-microsoft-standard-WSL2"}, {"wsl"}),
        ({"/dev/dxg": "", "/usr/lib/wsl/lib/x": ""}, {}, {"wsl"}),
        ({"/dev/dxg": ""}, {}, set()),
        ({"/.dockerenv": ""}, {}, {"docker"}),
        ({"/run/.containerenv": ""}, {}, {"podman"}),
        ({}, {"environ": {"APPTAINER_CONTAINER": "/a.sif"}}, {"apptainer"}),
        ({}, {"environ": {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}}, {"kubernetes"}),
        ({"/proc/1/cgroup": "0::/docker/abc"}, {}, {"docker"}),
        ({"/proc/1/cgroup": "0::/init.scope"}, {}, set()),
    ],
)
def test_the_host_is_recognised(
    make_host: MakeHost, files: dict[str, str], given: dict[str, object], expected: set[str]
) -> None:
    """Tegra, WSL2 and containers, by any of their signs."""
    found = detect(make_host(files, **given))
    signs = {"tegra": found.tegra, "wsl": found.wsl, str(found.container): found.container is not None}
    assert {name for name, holds in signs.items() if holds} == expected


def test_libcuda_decides(make_host: MakeHost) -> None:
    """Its answers are taken, and nothing else is asked; the kernel module's version is for the reader."""
    host = make_host(
        {LIBCUDA: "", NVML: "", "/sys/module/nvidia/version": "580.95.05\n"},
        {"libcuda": said("version 13000", "init 0", "count 2", "gpu 9 0 NVIDIA H100", "gpu 9 0 NVIDIA H100")},
    )
    assert detect(host).nvidia == Nvidia((13, 0), "580.95.05", 0, (H100, H100), "libcuda", "ok")
    assert host.run.asked == ["libcuda"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "files",
    [
        {"/etc/ld.so.cache": b"glibc-ld.so.cache1.1\0libcrypt.so.1\0libcuda.so.1\0/odd/libcuda.so.1\0"},
        {"/usr/lib/wsl/lib/libcuda.so.1": ""},
        {"/odd{}/libcuda.so.1": ""},
    ],
    ids=["cache", "wsl", "LD_LIBRARY_PATH"],
)
def test_libcuda_is_looked_for_where_the_linker_looks(make_host: MakeHost, files: dict[str, bytes]) -> None:
    """Its cache, its folders and LD_LIBRARY_PATH."""
    answers = {"libcuda": said("version 12040", "init 0", "count 1", "gpu 8 9 L4")}
    host = make_host(files, answers, environ={"LD_LIBRARY_PATH": ":/odd{}"})
    assert detect(host).nvidia.gpus == (NvidiaGpu((8, 9), "L4"),)


@pytest.mark.parametrize(
    ("result", "state", "note"),
    [
        (ProcessResult(None, "version 13000\n", timed_out=True), "hung", "libcuda.so.1 did not answer within 10 s"),
        (said("version 13000", status=-11), "crashed", "the process that asked libcuda.so.1 ended with signal 11"),
        (said("version 13000", status=1), "crashed", "the process that asked libcuda.so.1 ended with status 1"),
        (said("load no such file", status=3), "absent", "libcuda.so.1 cannot be loaded: no such file"),
        (said("version 2147483647", "init 0", "count 0"), "odd", "calls itself CUDA version 2147483647"),
        (said("version 0", "init 0", "count 0"), "odd", "calls itself CUDA version 0"),
        (said("version 13000", "init 0", "count -1"), "odd", "counts -1 devices"),
        (said("version 13000", "init 0", "count 99999"), "odd", "counts 99999 devices"),
        (said("version 13000", "init 0", "count 1", "gpu 99 99 odd"), "odd", "a compute capability that cannot be"),
    ],
    ids=["hangs", "crashes", "exits", "cannot be loaded", "version", "zero", "negative", "many", "capability"],
)
def test_a_libcuda_that_does_not_work_is_recognised(
    make_host: MakeHost, result: ProcessResult, state: str, note: str
) -> None:
    """What it said before is kept; NVML says which GPUs are there all the same."""
    nvml = said("driver 580.95.05", "version 13000", "count 1", "gpu 9 0 NVIDIA H100")
    found = detect(make_host({LIBCUDA: "", NVML: ""}, {"libcuda": result, "libnvidia-ml": nvml}))
    assert found.nvidia.libcuda == state
    assert any(note in text for text in found.notes)
    assert found.nvidia.gpus in {(H100,), (NvidiaGpu(None, "odd"),)}


MIG = "MIG-3b5f2c9a-8d0e-5c1f-9a63-0e2b7f1d4c55"


def test_a_mig_instance_is_what_libcuda_shows(make_host: MakeHost) -> None:
    """One instance, by its own name; the variable that names it is kept for what is decided later."""
    host = make_host(
        {LIBCUDA: "", NVML: ""},
        {"libcuda": said("version 13000", "init 0", "count 1", "gpu 8 0 NVIDIA A100-SXM4-40GB MIG 1g.5gb")},
        environ={"CUDA_VISIBLE_DEVICES": MIG},
    )
    machine = detect(host)
    assert machine.nvidia.gpus == (NvidiaGpu((8, 0), "NVIDIA A100-SXM4-40GB MIG 1g.5gb"),)
    assert machine.visible == {"CUDA_VISIBLE_DEVICES": MIG}
    assert visible_value(machine, "CUDA_VISIBLE_DEVICES", [0], 1) == MIG
    assert resolve("jax", machine).package == "jaxlib-cuda-13"


def test_the_gpu_of_a_mig_instance_is_taken_where_libcuda_does_not_answer(
    make_host: MakeHost, smi_path: dict[str, str]
) -> None:
    """`nvidia-smi` lists whole GPUs, which run the same code, so that what is asked for gets the right bounds."""
    host = make_host(
        {LIBCUDA: ""},
        {
            "libcuda": ProcessResult(None, timed_out=True),
            "--query-gpu": said("NVIDIA A100-SXM4-40GB, 8.0, 580.95.05"),
            "-q": said("CUDA Version : 13.0"),
        },
        environ={**smi_path, "CUDA_VISIBLE_DEVICES": MIG},
    )
    machine = detect(host)
    assert (machine.nvidia.source, len(machine.nvidia.gpus)) == ("nvidia-smi", 1)
    decision = resolve("jax", machine, read_policy(["prefer-gpu"], {}, None))
    assert (decision.package, dict(decision.environment)) == ("jaxlib-cuda-13", {})


def test_no_device_is_an_answer(make_host: MakeHost) -> None:
    """CuInit 100 is believed: nobody else is asked."""
    host = make_host({LIBCUDA: "", NVML: ""}, {"libcuda": said("version 12040", "init 100")})
    assert detect(host).nvidia == Nvidia((12, 4), cuinit=100, source="libcuda", libcuda="ok")
    assert host.run.asked == ["libcuda"]  # type: ignore[attr-defined]


@pytest.fixture
def smi_path(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which there is a program nvidia-smi."""
    program = tmp_path / "usr/bin/nvidia-smi"
    program.parent.mkdir(parents=True)
    program.write_text("", "utf-8")
    program.chmod(0o755)
    return {"PATH": f"/nowhere:{program.parent}"}


@pytest.mark.parametrize(
    ("rows", "report", "expected"),
    [
        (
            said("NVIDIA L4, 8.9, 550.54.15"),
            said("CUDA Version                              : 12.4"),
            Nvidia((12, 4), "550.54.15", None, (NvidiaGpu((8, 9), "NVIDIA L4"),), "nvidia-smi", "absent"),
        ),
        (
            said("NVIDIA A, B, 8.0, 580.95.05", "Tesla K80, 3.7, 580.95.05", "", "odd"),
            said("CUDA UMD Version : 13.0", "CUDA Version : 9.9"),
            Nvidia(
                (13, 0),
                "580.95.05",
                None,
                (NvidiaGpu((8, 0), "NVIDIA A, B"), NvidiaGpu((3, 7), "Tesla K80")),
                "nvidia-smi",
                "absent",
            ),
        ),
        (
            said("NVIDIA L4, [N/A], 550.54.15"),
            said("CUDA Version : N/A"),
            Nvidia(None, "550.54.15", None, (NvidiaGpu(None, "NVIDIA L4"),), "nvidia-smi", "absent"),
        ),
        (
            said("NVIDIA L4, 8.9, 580.95.05-foo"),
            ProcessResult(1),
            Nvidia(None, "580.95.05", None, (NvidiaGpu((8, 9), "NVIDIA L4"),), "nvidia-smi", "absent"),
        ),
        (
            said("A\x1b[2J, 9.0, 580.95.05"),
            ProcessResult(1),
            Nvidia(None, "580.95.05", None, (NvidiaGpu((9, 0), "A?[2J"),), "nvidia-smi", "absent"),
        ),
        (
            said("Tesla K80, [N/A], [GPU is lost]"),
            ProcessResult(0),
            Nvidia(None, None, None, (NvidiaGpu(None, "Tesla K80"),), "nvidia-smi", "absent"),
        ),
        (said("No devices were found", status=6), ProcessResult(6), Nvidia(libcuda="absent")),
        (said("N/A", "N/A, N/A, N/A"), ProcessResult(0), Nvidia(libcuda="absent")),
        (said("\ufffd\ufffd, \ufffd, \ufffd"), ProcessResult(0), Nvidia(libcuda="absent")),
        (ProcessResult(None, timed_out=True), ProcessResult(None), Nvidia(libcuda="absent")),
        (ProcessResult(0, ""), ProcessResult(0), Nvidia(libcuda="absent")),
    ],
    ids=["one", "several", "N/A", "suffix", "escapes", "unknown", "fails", "nothing", "not UTF-8", "slow", "empty"],
)
def test_nvidia_smi_may_print_anything(
    make_host: MakeHost, smi_path: dict[str, str], rows: ProcessResult, report: ProcessResult, expected: Nvidia
) -> None:
    """Lines that make sense are taken, all others are passed over."""
    host = make_host(programs={"--query-gpu": rows, "-q": report}, environ=smi_path)
    assert detect(host).nvidia == expected


@pytest.mark.parametrize(
    ("rows", "note"),
    [
        (ProcessResult(None, "\n", timed_out=True), "nvidia-smi did not answer within 15 s and was stopped"),
        (ProcessResult(None), "nvidia-smi could not be started"),
        (
            said("", "NVIDIA-SMI has failed because it couldn't communicate", "with the driver", status=9),
            "nvidia-smi failed with status 9: NVIDIA-SMI has failed because it couldn't communicate",
        ),
        (said("y" * 999, status=-13), f"nvidia-smi failed with status -13: {'y' * 120}"),
        (said("[N/A], [N/A], [N/A]\x1b"), "nvidia-smi lists no GPU: [N/A], [N/A], [N/A]?"),
        (ProcessResult(0), "nvidia-smi lists no GPU"),
    ],
    ids=["slow", "not started", "fails", "floods", "N/A", "empty"],
)
def test_an_nvidia_smi_that_lists_nothing_is_noted(
    make_host: MakeHost, smi_path: dict[str, str], rows: ProcessResult, note: str
) -> None:
    """The program is there, so that somebody expects a GPU."""
    found = detect(make_host(programs={"--query-gpu": rows}, environ=smi_path, timeout=30.0))
    assert (found.nvidia, found.notes) == (Nvidia(libcuda="absent"), (note,))


def test_an_nvml_that_hangs_is_noted_and_nvidia_smi_spared(make_host: MakeHost, smi_path: dict[str, str]) -> None:
    """It asks NVML itself."""
    host = make_host({NVML: ""}, {"libnvidia-ml": ProcessResult(None, timed_out=True)}, environ=smi_path, timeout=4.0)
    assert detect(host).notes == ("libnvidia-ml.so.1 did not answer within 2 s and was stopped",)
    assert host.run.asked == ["libnvidia-ml"]  # type: ignore[attr-defined]


def test_who_was_named_by_libcuda_is_not_asked_for_again(make_host: MakeHost) -> None:
    """A libcuda that dies after it named its GPUs costs no more time."""
    crash = said("version 13000", "init 0", "count 1", "gpu 9 0 NVIDIA H100", status=-6)
    host = make_host({LIBCUDA: "", NVML: ""}, {"libcuda": crash})
    assert detect(host).nvidia.gpus == (H100,)
    assert host.run.asked == ["libcuda"]  # type: ignore[attr-defined]


def test_a_gpu_without_a_driver_is_seen_on_the_bus(make_host: MakeHost) -> None:
    """Display devices of NVIDIA count, its sound and network devices do not."""
    files = {
        **pci("0000:01:00.0", "0x10de", "0x2684"),
        **pci("0000:01:00.1", "0x10de", "0x22ba", "0x040300"),
        **pci("0000:41:00.0", "0x10de", "0x20b0", "0x030200"),
        **pci("0000:42:00.0", "garbage", "0x20b0"),
        **pci("0000:43:00.0", "0x10de", "0xzzzz"),
    }
    assert detect(make_host(files)).nvidia == Nvidia(libcuda="absent", pci=("10de:2684", "10de:20b0"))


def node(version: int, simd: int = 256) -> str:
    """Return the properties of a node as the kernel prints them."""
    return f"cpu_cores_count 0\nsimd_count {simd}\nname odd text here\ngfx_target_version {version}\n"


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (90010, "gfx90a"),
        (90402, "gfx942"),
        (90500, "gfx950"),
        (90012, "gfx90c"),
        (110003, "gfx1103"),
        (120001, "gfx1201"),
        (90006, "gfx906"),
        (100306, "gfx1036"),
    ],
)
def test_amd_architectures_are_hexadecimal(make_host: MakeHost, number: int, name: str) -> None:
    """Minor version and step are digits to the base of 16."""
    assert detect(make_host({f"{NODE}/1/properties": node(number)})).amd.gpus == (name,)


def test_an_amd_machine(make_host: MakeHost) -> None:
    """The processor's node is no GPU; nodes come in the order of their numbers."""
    files = {
        f"{NODE}/0/properties": node(0, simd=0),
        f"{NODE}/2/properties": node(110000),
        f"{NODE}/10/properties": node(90402),
        "/opt/rocm/.info/version": "7.0.0-38\n",
        "/dev/kfd": "",
        "/dev/dri/renderD128": "",
    }
    assert detect(make_host(files)).amd == Amd("7.0.0", ("gfx1100", "gfx942"), accessible=True)


@pytest.mark.parametrize(
    ("files", "given", "rocm"),
    [
        ({"/opt/rocm-6/.info/version": "6.4.1"}, {"environ": {"ROCM_PATH": "/opt/rocm-6"}}, "6.4.1"),
        ({"/opt/rocm/lib/libamdhip64.so.7": "", "/opt/rocm/lib/libamdhip64.so.6": ""}, {}, "7"),
        ({"/usr/lib64/libamdhip64.so.6": ""}, {}, "6"),
        ({"/env/_rocm_sdk_core/lib/libamdhip64.so.7": ""}, {"python_path": ("", "/env")}, "7"),
        ({"/opt/rocm/.info/version": "unknown"}, {}, None),
    ],
    ids=["ROCM_PATH", "library", "distribution", "pip", "garbage"],
)
def test_rocm_is_found(make_host: MakeHost, files: dict[str, str], given: dict[str, object], rocm: str | None) -> None:
    """By its version file, else by its HIP library."""
    amd = detect(make_host({**files, f"{NODE}/1/properties": node(90402)}, **given)).amd
    assert amd == Amd(rocm, ("gfx942",), accessible=False)


@pytest.mark.parametrize(
    ("environ", "gpus", "notes"),
    [
        ({"HIP_VISIBLE_DEVICES": "1"}, ("gfx1100",), 0),
        ({"ROCR_VISIBLE_DEVICES": "1,0"}, ("gfx1100", "gfx942"), 0),
        ({"ROCR_VISIBLE_DEVICES": "1", "HIP_VISIBLE_DEVICES": "0"}, ("gfx1100",), 0),
        ({"HIP_VISIBLE_DEVICES": "-1"}, (), 0),
        ({"HIP_VISIBLE_DEVICES": ""}, (), 0),
        ({"HIP_VISIBLE_DEVICES": "7"}, (), 0),
        ({"ROCR_VISIBLE_DEVICES": "GPU-deadbeef"}, ("gfx942", "gfx1100"), 1),
    ],
)
def test_hidden_amd_gpus_are_not_there(
    make_host: MakeHost, environ: dict[str, str], gpus: tuple[str, ...], notes: int
) -> None:
    """As HIP counts them."""
    files = {f"{NODE}/1/properties": node(90402), f"{NODE}/2/properties": node(110000)}
    found = detect(make_host(files, environ=environ))
    assert (found.amd.gpus, len(found.notes), found.visible) == (gpus, notes, environ)


def test_an_impossible_amd_architecture_is_noted(make_host: MakeHost) -> None:
    """And the other GPUs are kept."""
    files = {f"{NODE}/1/properties": node(99), f"{NODE}/2/properties": node(90402), f"{NODE}/3/properties": "\0\xff"}
    found = detect(make_host(files))
    assert (found.amd.gpus, found.notes) == (
        ("gfx942",),
        ("an AMD GPU has an architecture number that makes no sense",),
    )


def test_intel_and_google(make_host: MakeHost) -> None:
    """Intel's display devices with Level Zero; Google's devices, with nodes only where one of them is."""
    files = {
        **pci("0000:00:02.0", "0x8086", "0x46a6"),
        **pci("0000:3a:00.0", "0x8086", "0x0BD5", "0x038000"),
        **pci("0000:00:1f.0", "0x8086", "0x7a84", "0x060100"),
        "/usr/lib/x86_64-linux-gnu/libze_loader.so.1": "",
        "/dev/vfio/0": "",
        "/dev/vfio/vfio": "",
        "/dev/accel/accel0": "",
        "/dev/accel1": "",
    }
    found = detect(make_host(files))
    assert (found.intel, found.tpu) == (Intel(("8086:46a6", "8086:0bd5"), level_zero=True), Devices())
    found = detect(make_host(pci("0000:00:05.0", "0x1ae0", "0x0063", "0x120000")))
    assert found.tpu == Devices(("1ae0:0063",), ("/dev/accel1", "/dev/vfio/0"))


def test_other_systems_are_not_searched_for_linux_files(make_host: MakeHost) -> None:
    """On Windows only the NVIDIA driver is looked for, on macOS nothing."""
    files = {**pci("0", "0x8086", "0x0bd5"), "/Windows/System32/nvcuda.dll": ""}
    answers = {"nvcuda": said("version 12080", "init 0", "count 1", "gpu 8 9 RTX")}
    windows = detect(make_host(files, answers, system="windows", machine="AMD64"))
    assert (windows.nvidia.cuda, windows.intel) == ((12, 8), Intel())
    assert detect(make_host(files, answers, system="darwin", machine="arm64")) == Machine("darwin", "arm64")


def test_unreadable_files_are_not_there(make_host: MakeHost, tmp_path: Path) -> None:
    """Folders where files should be, files where folders should be, and loops."""
    (tmp_path / "sys/bus/pci").mkdir(parents=True)
    (tmp_path / "sys/bus/pci/devices").write_text("a file", "utf-8")
    (tmp_path / f"{NODE.lstrip('/')}/1/properties").mkdir(parents=True)
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/ld.so.cache").symlink_to("ld.so.cache")
    (tmp_path / "proc/1/cgroup").mkdir(parents=True)
    assert detect(make_host()) == Machine("linux", "x86_64", nvidia=Nvidia(libcuda="absent"))


def test_detection_never_raises(make_host: MakeHost) -> None:
    """What fails in one place is a note, and the rest is found."""

    def broken(*_: object) -> ProcessResult:
        raise RuntimeError("out of cheese")

    host = make_host({LIBCUDA: "", **pci("0", "0x8086", "0x0bd5")})
    found = detect(Host(**{**vars(host), "run": broken}))
    assert found.notes == ("a part of the detection failed (RuntimeError: out of cheese)",)
    assert found.intel.pci == ("8086:0bd5",)


def test_this_machine_can_be_looked_at() -> None:
    """Whatever it is, in the test's own environment."""
    found = detect()
    assert found.os == {"linux": "linux", "darwin": "darwin", "win32": "windows"}[sys.platform]
    assert found.arch


@pytest.mark.parametrize(("text", "seconds"), [("2.5", 2.5), ("0.001", 0.1), ("1e9", 600), ("inf", 600), ("", 10)])
def test_the_time_limit_can_be_set(text: str, seconds: float) -> None:
    """Within reason."""
    assert this_host({"JAXLIB_SELECT_TIMEOUT": text}).timeout == seconds


@pytest.mark.parametrize("text", ["soon", "0", "-1", "nan", "10s"])
def test_a_time_limit_that_is_none_is_refused(text: str) -> None:
    """The user means something by it."""
    with pytest.raises(UsageError) as caught:
        this_host({"JAXLIB_SELECT_TIMEOUT": text})
    assert str(caught.value).splitlines() == [
        f"JAXLIB_SELECT_TIMEOUT={text}",
        "expected a positive number of seconds, such as 30",
    ]


def test_a_slow_program_is_stopped_with_its_children() -> None:
    """Its output so far is kept."""
    child = "[sys.executable, '-c', 'import time; time.sleep(60)']"
    script = f"import subprocess, sys; print('early', flush=True); subprocess.run({child})"
    start = time.monotonic()
    result = run([sys.executable, "-I", "-c", script], {}, 1.0)
    assert time.monotonic() - start < 10
    assert result == ProcessResult(None, "early\n", timed_out=True)


def test_a_program_may_be_absent_or_print_garbage() -> None:
    """Neither raises."""
    assert run(["/nowhere/at-all"], {}, 1.0) == ProcessResult(None)
    script = "import sys; sys.stdout.buffer.write(b'\\xff ok'); sys.exit(4)"
    assert run([sys.executable, "-I", "-c", script], {}, 30.0) == ProcessResult(4, "\ufffd ok")


def test_a_flood_is_cut_off() -> None:
    """Neither time nor memory is spent on it."""
    start = time.monotonic()
    result = run([sys.executable, "-I", "-c", "while True: print('y' * 9999)"], {}, 30.0)
    assert time.monotonic() - start < 10
    assert (result.status in {None, 0}, len(result.output), result.timed_out) == (False, 1 << 20, False)


def test_garbage_that_a_library_prints_is_ignored() -> None:
    """Only whole lines of the agreed form count, such as a library's own chatter does not have."""
    answer, notes = read_answer(
        said("hello", "version x", "gpu", "version 13000 ", "init 0", "gpu 9 0"), "libcuda.so.1", 1
    )
    assert (answer, notes) == (Nvidia(None, cuinit=0, gpus=(NvidiaGpu((9, 0)),), libcuda="ok"), [])


def test_what_cannot_be_printed_forges_no_lines(make_host: MakeHost) -> None:
    """Names from drivers and values of variables become texts that a machine file may hold."""
    host = make_host(
        {LIBCUDA: ""},
        {"libcuda": said("version 13000", "init 0", "count 1", "gpu 9 0 H100\x1b[2J\t80GB")},
        environ={"CUDA_VISIBLE_DEVICES": "0\nchosen  cpu", "TPU_VISIBLE_CHIPS": "\udcff"},
    )
    machine = detect(host)
    assert machine.nvidia.gpus == (NvidiaGpu((9, 0), "H100?[2J 80GB"),)
    assert machine.visible == {"CUDA_VISIBLE_DEVICES": "0 chosen  cpu", "TPU_VISIBLE_CHIPS": "?"}
    assert parse_machine(json.dumps(to_json(machine))) == machine
