# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Detection of NVIDIA GPUs: by libcuda, by NVML, and on the bus."""

from dataclasses import replace

import pytest

from hosts import LIBCUDA, NVML, MakeHost, pci, said
from jaxlib_select.choose.resolve import resolve
from jaxlib_select.choose.rules import visible_value
from jaxlib_select.machine.detect import detect
from jaxlib_select.machine.host import ProcessResult
from jaxlib_select.machine.model import Nvidia, NvidiaGpu
from select_commands import asked, lacking

H100 = NvidiaGpu((9, 0), "NVIDIA H100")
BOTH = {LIBCUDA: "", NVML: ""}


ONE_H100 = "version 13000\ninit 0\ncount 1\ngpu 9 0 NVIDIA H100"


@pytest.mark.parametrize(
    ("lines", "status", "nvidia"),
    [
        (ONE_H100, 0, Nvidia((13, 0), cuinit=0, gpus=(H100,), source="libcuda", libcuda="ok")),
        (ONE_H100, -6, Nvidia((13, 0), cuinit=0, gpus=(H100,), libcuda="crashed")),
        ("version 12040\ninit 100", 0, Nvidia((12, 4), cuinit=100, source="libcuda", libcuda="ok")),
    ],
    ids=["answers", "dies after its answer", "no device"],
)
def test_libcuda_decides(make_host: MakeHost, lines: str, status: int, nvidia: Nvidia) -> None:
    """Its answers are taken, and nothing else is asked; the kernel module's version is for the reader."""
    files = {**BOTH, "/sys/module/nvidia/version": "580.95.05\n"}
    host = make_host(files, {"libcuda": said(lines, status=status)})
    assert detect(host).nvidia == replace(nvidia, driver="580.95.05")
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
    ("lines", "status", "state", "named"),
    [
        ("version 13000", None, "hung", "10 s"),
        ("version 13000", -11, "crashed", "signal 11"),
        ("version 13000", 1, "crashed", "status 1"),
        ("load no such file", 3, "absent", "no such file"),
        ("version 2147483647\ninit 0\ncount 0", 0, "odd", "2147483647"),
        ("version 0\ninit 0\ncount 0", 0, "odd", "version 0"),
        ("version 13000\ninit 0\ncount -1", 0, "odd", "-1"),
        ("version 13000\ninit 0\ncount 99999", 0, "odd", "99999"),
        ("version 13000\ninit 0\ncount 1\ngpu 99 99 odd", 0, "odd", "compute capability"),
    ],
    ids=["hangs", "crashes", "exits", "cannot be loaded", "version", "zero", "negative", "many", "capability"],
)
def test_a_libcuda_that_does_not_work_is_recognised(
    make_host: MakeHost, lines: str, status: int | None, state: str, named: str
) -> None:
    """What it said before is kept; NVML says which GPUs are there all the same."""
    nvml = said("driver 580.95.05", "version 13000", "count 1", "gpu 9 0 NVIDIA H100")
    libcuda = ProcessResult(status, f"{lines}\n", timed_out=status is None)
    found = detect(make_host(BOTH, {"libcuda": libcuda, "libnvidia-ml": nvml}))
    assert (found.nvidia.libcuda, any(named in text for text in found.notes)) == (state, True)
    assert found.nvidia.gpus in {(H100,), (NvidiaGpu(None, "odd"),)}


MIG = "MIG-3b5f2c9a-8d0e-5c1f-9a63-0e2b7f1d4c55"


def test_a_mig_instance_is_what_libcuda_shows(make_host: MakeHost) -> None:
    """One instance, by its own name; the variable that names it is kept for what is decided later."""
    host = make_host(
        BOTH,
        {"libcuda": said("version 13000", "init 0", "count 1", "gpu 8 0 NVIDIA A100-SXM4-40GB MIG 1g.5gb")},
        environ={"CUDA_VISIBLE_DEVICES": MIG},
    )
    machine = detect(host)
    assert machine.nvidia.gpus == (NvidiaGpu((8, 0), "NVIDIA A100-SXM4-40GB MIG 1g.5gb"),)
    assert visible_value(machine, "CUDA_VISIBLE_DEVICES", [0], 1) == MIG
    assert resolve("jax", machine).package == "jaxlib-cuda-13"


def test_the_gpu_of_a_mig_instance_is_taken_where_libcuda_does_not_answer(make_host: MakeHost) -> None:
    """NVML lists whole GPUs, which run the same code, so that what is asked for gets the right bounds."""
    nvml = said("driver 580.95.05", "version 13000", "count 1", "gpu 8 0 NVIDIA A100-SXM4-40GB")
    answers = {"libcuda": ProcessResult(None, timed_out=True), "libnvidia-ml": nvml}
    machine = detect(make_host(BOTH, answers, environ={"CUDA_VISIBLE_DEVICES": MIG}))
    assert (machine.nvidia.source, len(machine.nvidia.gpus)) == ("nvml", 1)
    decision = resolve("jax", machine, asked("prefer-gpu"))
    assert (decision.package, dict(decision.environment)) == ("jaxlib-cuda-13", {})


def test_an_nvml_that_hangs_is_noted(make_host: MakeHost) -> None:
    """It gets half of the time that libcuda gets."""
    host = make_host({NVML: ""}, {"libnvidia-ml": ProcessResult(None, timed_out=True)}, timeout=4.0)
    (note,) = detect(host).notes
    assert lacking(note, "libnvidia-ml.so.1", "2 s") == []


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
