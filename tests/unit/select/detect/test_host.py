# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Detection of the host itself, on systems of every kind, and whatever fails there."""

from pathlib import Path

import pytest

from hosts import LIBCUDA, NODE, MakeHost, pci, said
from jaxlib_select.machine.detect import detect
from jaxlib_select.machine.host import Host, ProcessResult
from jaxlib_select.machine.model import Intel, Machine, Nvidia


def test_a_machine_with_nothing_starts_no_program(make_host: MakeHost) -> None:
    """No library, no program, no device: no child process either."""
    host = make_host()
    assert detect(host) == Machine("linux", "x86_64", nvidia=Nvidia(libcuda="absent"))
    assert host.run.asked == []  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("system", "machine", "arch"),
    [
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


def test_other_systems_are_not_searched_for_linux_files(make_host: MakeHost) -> None:
    """On Windows only the NVIDIA driver is looked for, on macOS nothing."""
    files = {**pci("0", "0x8086", "0x0bd5"), "/Windows/System32/nvcuda.dll": ""}
    answers = {"nvcuda": said("version 12080", "init 0", "count 1", "gpu 8 9 RTX")}
    windows = detect(make_host(files, answers, system="windows", machine="AMD64"))
    assert (windows.nvidia.cuda, windows.intel) == ((12, 8), Intel())
    assert detect(make_host(files, answers, system="darwin", machine="arm64")) == Machine("darwin", "arm64")


def test_unreadable_files_are_not_there(make_host: MakeHost, tmp_path: Path) -> None:
    """Folders where files should be, files where folders should be, and loops."""
    host = make_host({"/sys/bus/pci/devices": "a file"})
    for folder in ("etc", "proc/1/cgroup", f"{NODE.lstrip('/')}/1/properties"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "etc/ld.so.cache").symlink_to("ld.so.cache")
    assert detect(host) == Machine("linux", "x86_64", nvidia=Nvidia(libcuda="absent"))


def test_detection_never_raises(make_host: MakeHost) -> None:
    """What fails in one place is a note, and the rest is found."""

    def broken(*_: object) -> ProcessResult:
        raise RuntimeError("out of cheese")

    host = make_host({LIBCUDA: "", **pci("0", "0x8086", "0x0bd5")})
    found = detect(Host(**{**vars(host), "run": broken}))
    (note,) = found.notes
    assert ("RuntimeError: out of cheese" in note, found.intel.pci) == (True, ("8086:0bd5",))
