# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""NVIDIA GPUs: libcuda decides, NVML says what is there if it does not work, files are hints."""

from __future__ import annotations

import re
from dataclasses import replace

from jaxlib_select.machine.detect import Detector
from jaxlib_select.machine.host import Host, find_library, list_devices
from jaxlib_select.machine.model import NO_DEVICE, Nvidia

_VENDOR = "10de"
_DISPLAY = ("03",)
_CUDA = {"linux": "libcuda.so.1", "windows": "nvcuda.dll"}
_NVML = {"linux": "libnvidia-ml.so.1", "windows": "nvml.dll"}
_SYSTEM32 = "/Windows/System32"
_DRIVER_FILES = ("/sys/module/nvidia/version", "/proc/driver/nvidia/version")
_DRIVER = re.compile(r"\b\d{3}\.\d+(?:\.\d+)?\b")
_SHARE = 0.5  # of the time that libcuda gets, for what is asked only to report more


def look(host: Host) -> tuple[Nvidia, list[str]]:
    """Return what a CUDA program will see on this machine, and what was odd."""
    found = Nvidia(
        driver=_driver(host),
        pci=tuple(list_devices(host, _VENDOR, _DISPLAY)) if host.system == "linux" else (),
        libcuda="absent",
    )
    library = _CUDA[host.system]
    place = _find(host, library)
    notes: list[str] = []
    if place is not None:
        from jaxlib_select.machine.query import query  # most machines need no child process

        answer, notes = query(host, "cuda", library, host.timeout)
        if answer.libcuda == "absent" and place != library:
            notes.append(f"there is a {place}: if it is the driver's, add its folder to LD_LIBRARY_PATH")
        source = "libcuda" if answer.libcuda == "ok" else None
        found = replace(answer, driver=found.driver, pci=found.pci, source=source)
    if found.libcuda == "ok" and found.cuinit in {0, NO_DEVICE}:
        return found, notes
    found, more = _enrich(host, found)
    return found, [*notes, *more]


def _find(host: Host, library: str) -> str | None:
    """Return whether a library may be loaded, without loading it."""
    if host.system == "windows":
        path = f"{_SYSTEM32}/{library}"
        return path if host.exists(path) else None
    return find_library(host, library)


def _enrich(host: Host, found: Nvidia) -> tuple[Nvidia, list[str]]:
    """Say which GPUs there are although libcuda does not work, as NVML knows; and what was odd."""
    if found.gpus:
        return found, []
    other, notes = _ask_nvml(host)
    if other is None:
        return found, notes
    cuda, driver = found.cuda or other.cuda, other.driver or found.driver
    return replace(found, cuda=cuda, driver=driver, gpus=other.gpus, source=other.source), notes


def _ask_nvml(host: Host) -> tuple[Nvidia | None, list[str]]:
    """Ask NVML in a child process; None if it is absent or lists no GPU, and a sentence if it hangs or crashes."""
    library = _NVML[host.system]
    if _find(host, library) is None:
        return None, []
    from jaxlib_select.machine.query import query  # most machines need no child process

    answer, notes = query(host, "nvml", library, host.timeout * _SHARE)
    odd = notes if answer.libcuda in {"hung", "crashed"} else []
    return replace(answer, source="nvml") if answer.gpus else None, odd


def _driver(host: Host) -> str | None:
    """Return the version of the kernel module: a hint, since it is the host's in a container without GPUs too."""
    versions = (_DRIVER.search(host.read(path) or "") for path in _DRIVER_FILES)
    return next((found.group() for found in versions if found), None)


DETECTOR = Detector(
    "nvidia", look, systems=("linux", "windows"), variables=("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")
)
