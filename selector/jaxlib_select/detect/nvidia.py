# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""NVIDIA GPUs: libcuda decides, NVML and nvidia-smi say what is there if it does not work, files are hints."""

from __future__ import annotations

import re
from dataclasses import replace

from jaxlib_select.detect import nvidia_smi
from jaxlib_select.detect.libraries import find_library
from jaxlib_select.detect.pci import list_devices
from jaxlib_select.detect.world import World
from jaxlib_select.machine import NO_DEVICE, Nvidia

_VENDOR = "10de"
_DISPLAY = ("03",)
_CUDA = {"linux": "libcuda.so.1", "windows": "nvcuda.dll"}
_NVML = {"linux": "libnvidia-ml.so.1", "windows": "nvml.dll"}
_SYSTEM32 = "/Windows/System32"
_DRIVER_FILES = ("/sys/module/nvidia/version", "/proc/driver/nvidia/version")
_DRIVER = re.compile(r"\b\d{3}\.\d+(?:\.\d+)?\b")
_SHARE = 0.5  # of the time that libcuda gets, for what is asked only to tell the user more


def detect(world: World) -> tuple[Nvidia, list[str]]:
    """Return what a CUDA program will see on this machine, and what was odd."""
    if world.system not in _CUDA:
        return Nvidia(), []
    found = Nvidia(
        driver=_driver(world),
        pci=tuple(list_devices(world, _VENDOR, _DISPLAY)) if world.system == "linux" else (),
        libcuda="absent",
    )
    library = _CUDA[world.system]
    place = _find(world, library)
    notes: list[str] = []
    if place is not None:
        found, notes = _ask_libcuda(world, found, library, place)
    if found.libcuda == "ok" and found.cuinit in {0, NO_DEVICE}:
        return found, notes
    found, more = _enrich(world, found)
    return found, [*notes, *more]


def _find(world: World, library: str) -> str | None:
    """Return whether a library may be loaded, without loading it."""
    if world.system == "windows":
        path = f"{_SYSTEM32}/{library}"
        return path if world.exists(path) else None
    return find_library(world, library)


def _ask_libcuda(world: World, found: Nvidia, library: str, place: str) -> tuple[Nvidia, list[str]]:
    """Ask libcuda in a child process."""
    from jaxlib_select.detect.probe import ask  # most machines need no child process

    answer = ask(world, "probe_cuda.py", library, world.timeout)
    notes = list(answer.notes)
    if answer.state == "absent" and place != library:
        notes.append(f"there is a {place}: if it is the driver's, add its folder to LD_LIBRARY_PATH")
    return (
        replace(
            found,
            cuda=answer.cuda,
            cuinit=answer.cuinit,
            gpus=answer.gpus,
            source="libcuda" if answer.state == "ok" else None,
            libcuda=answer.state,
        ),
        notes,
    )


def _enrich(world: World, found: Nvidia) -> tuple[Nvidia, list[str]]:
    """Say which GPUs there are although libcuda does not work: NVML knows, else nvidia-smi; and what was odd."""
    if found.gpus:
        return found, []
    other, notes = _ask_nvml(world)
    if other is None and not notes:  # where NVML does not work, nvidia-smi, which is made from it, does not either
        other, notes = nvidia_smi.detect(world, world.timeout * _SHARE)
    if other is None:
        return found, notes
    return replace(
        found,
        cuda=found.cuda or other.cuda,
        driver=other.driver or found.driver,
        gpus=other.gpus,
        source=other.source,
    ), notes


def _ask_nvml(world: World) -> tuple[Nvidia | None, list[str]]:
    """Ask NVML in a child process; nothing if it is absent or lists no GPU, and a sentence if it hangs or crashes."""
    library = _NVML[world.system]
    if _find(world, library) is None:
        return None, []
    from jaxlib_select.detect.probe import ask  # most machines need no child process

    answer = ask(world, "probe_nvml.py", library, world.timeout * _SHARE)
    notes = list(answer.notes) if answer.state in {"hung", "crashed"} else []
    return Nvidia(answer.cuda, answer.driver, None, answer.gpus, "nvml") if answer.gpus else None, notes


def _driver(world: World) -> str | None:
    """Return the version of the kernel module: a hint, since it is the host's in a container without GPUs too."""
    for path in _DRIVER_FILES:
        found = _DRIVER.search(world.read(path) or "")
        if found:
            return found.group()
    return None
