# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The JSON form of a machine: unknown keys are ignored, missing keys and nulls mean "not found".

A key that is nearly one of ours gets a note, because it is hardly meant to be ignored.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields

from jaxlib_select.errors import MachineError
from jaxlib_select.json_table import (
    Table,
    UnfitError,
    as_one_of,
    as_text,
    as_texts,
    as_truth,
    as_whole,
    kind_of,
    show,
    unknown_keys,
)
from jaxlib_select.machine import LIBCUDA, Amd, Intel, Machine, Nvidia, NvidiaGpu, Tpu, Version, format_version

LARGEST = 16 * 1024 * 1024  # bytes of a machine file; ten thousand GPUs take one
_NEAR = 0.7  # of 1: how much of a key must be as in a known one to be taken for a slip
_KEYS = {attribute.name for attribute in fields(Machine)}
_VERSION = re.compile(r"\d{1,4}(\.\d{1,4}){0,3}")
_CAPABILITY = re.compile(r"(\d{1,2})\.(\d)")
_PCI = re.compile(r"[0-9a-f]{4}:[0-9a-f]{4}")
_GFX = re.compile(r"(gfx[0-9a-f]{3,5})(:[a-z]+[+-])*")  # rocminfo adds features, as in gfx90a:sramecc+:xnack-


def to_json(machine: Machine) -> dict[str, object]:
    """Return the documented JSON form; `from_json` is its inverse."""
    nvidia = machine.nvidia
    return {
        "os": machine.os,
        "arch": machine.arch,
        "wsl": machine.wsl,
        "tegra": machine.tegra,
        "nvidia": {
            "cuda": format_version(nvidia.cuda),
            "driver": nvidia.driver,
            "cuinit": nvidia.cuinit,
            "gpus": [
                {"name": gpu.name, "compute_capability": format_version(gpu.compute_capability)} for gpu in nvidia.gpus
            ],
            "source": nvidia.source,
            "libcuda": nvidia.libcuda,
            "pci": list(nvidia.pci),
        },
        "amd": {"rocm": machine.amd.rocm, "gpus": list(machine.amd.gpus), "accessible": machine.amd.accessible},
        "intel": {"pci": list(machine.intel.pci), "level_zero": machine.intel.level_zero},
        "tpu": {"pci": list(machine.tpu.pci), "devices": list(machine.tpu.devices)},
        "container": machine.container,
        "libc": machine.libc,
        "visible": dict(machine.visible),
        "notes": list(machine.notes),
    }


def parse_machine(text: str) -> Machine:
    """Read a machine description.

    Args:
        text: A JSON document.

    Returns:
        The machine.

    Raises:
        MachineError: It is not JSON, too large, or not of the documented form.
    """
    if len(text) > LARGEST:
        raise MachineError(f"machine description too large: {len(text)} characters (at most {LARGEST})")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MachineError("machine description is not JSON", cause=str(error)) from error
    return from_json(document)


def from_json(document: object) -> Machine:
    """Turn a decoded JSON document into a machine.

    Raises:
        MachineError: A value is of the wrong type or form; the message names its key.
    """
    if not isinstance(document, dict):
        raise MachineError(
            f"machine description is {kind_of(document)}, not an object",
            remedy="'jaxlib-select detect --json' writes the expected form",
        )
    if document and not document.keys() & _KEYS:
        raise MachineError(
            f"no machine description: none of its keys ({show(', '.join(map(str, document)))}) is known",
            remedy="'jaxlib-select detect --json' writes the expected form",
        )
    table = Table(document)
    return Machine(
        os=table.get("os", as_text) or "",
        arch=table.get("arch", as_text) or "",
        wsl=table.get("wsl", as_truth) or False,
        tegra=table.get("tegra", as_truth) or False,
        nvidia=_nvidia(table.table("nvidia")),
        amd=_amd(table.table("amd")),
        intel=Intel(
            pci=table.table("intel").list("pci", _pci),
            level_zero=table.table("intel").get("level_zero", as_truth) or False,
        ),
        tpu=Tpu(pci=table.table("tpu").list("pci", _pci), devices=table.table("tpu").list("devices", as_text)),
        container=table.get("container", as_text),
        libc=table.get("libc", as_text),
        visible=table.get("visible", as_texts) or {},
        notes=(*table.list("notes", as_text), *_slips(document)),
    )


def _slips(document: dict[str, object]) -> list[str]:
    """Return a note for each unknown key that is nearly a known one."""
    form = to_json(Machine(nvidia=Nvidia(gpus=(NvidiaGpu(None),))))
    unknown = dict.fromkeys(unknown_keys(document, form))  # the same key of ten thousand GPUs once
    if not unknown:
        return []
    from difflib import get_close_matches  # seldom needed

    near = {where + key: (where, get_close_matches(key, known, 1, _NEAR)) for where, key, known in unknown}
    slips = [(key, where + found[0]) for key, (where, found) in near.items() if found]
    return [f"the key {show(key)} was ignored; known is {known}" for key, known in slips]


def _nvidia(table: Table) -> Nvidia:
    """Read the part about NVIDIA."""
    return Nvidia(
        cuda=table.get("cuda", _version),
        driver=table.get("driver", as_text),
        cuinit=table.get("cuinit", as_whole),
        gpus=tuple(
            NvidiaGpu(compute_capability=gpu.get("compute_capability", _capability), name=gpu.get("name", as_text))
            for gpu in table.tables("gpus")
        ),
        source=table.get("source", as_text),
        libcuda=table.get("libcuda", as_one_of(*LIBCUDA)),
        pci=table.list("pci", _pci),
    )


def _amd(table: Table) -> Amd:
    """Read the part about AMD."""
    return Amd(
        rocm=table.get("rocm", as_text) or None,
        gpus=table.list("gpus", _gfx),
        accessible=table.get("accessible", as_truth),
    )


def _version(value: object) -> Version:
    if not isinstance(value, str) or not _VERSION.fullmatch(value):
        raise UnfitError("a version such as '13.0'")
    return tuple(int(part) for part in value.split("."))


def _capability(value: object) -> tuple[int, int]:
    found = _CAPABILITY.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise UnfitError("a compute capability such as '9.0'")
    return int(found.group(1)), int(found.group(2))


def _pci(value: object) -> str:
    if not isinstance(value, str) or not _PCI.fullmatch(value.lower()):
        raise UnfitError("PCI vendor and device such as '8086:0bd5'")
    return value.lower()


def _gfx(value: object) -> str:
    """Return an AMD architecture without features, or refuse the value."""
    found = _GFX.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise UnfitError("an architecture such as 'gfx942'")
    return found.group(1)
