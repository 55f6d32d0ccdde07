# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The JSON form of a machine: unknown keys are ignored, missing keys and nulls mean "not found"."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Callable, TypeVar

from jaxlib_select.errors import MachineError
from jaxlib_select.machine import Amd, Intel, Machine, Nvidia, NvidiaGpu, Tpu, Version, format_version

T = TypeVar("T")

LARGEST = 16 * 1024 * 1024  # bytes of a machine file; ten thousand GPUs take one
_KEYS = {attribute.name for attribute in fields(Machine)}
_VERSION = re.compile(r"\d{1,4}(\.\d{1,4}){0,3}")
_CAPABILITY = re.compile(r"(\d{1,2})\.(\d)")
_PCI = re.compile(r"[0-9a-f]{4}:[0-9a-f]{4}")
_GFX = re.compile(r"gfx[0-9a-f]{3,5}")


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
            f"machine description is {_kind(document)}, not an object",
            remedy="'jaxlib-select detect --json' writes the expected form",
        )
    if document and not document.keys() & _KEYS:
        raise MachineError(
            f"no machine description: none of its keys ({_show(', '.join(map(str, document)))}) is known",
            remedy="'jaxlib-select detect --json' writes the expected form",
        )
    table = _Table(document, "")
    return Machine(
        os=table.get("os", _text) or "",
        arch=table.get("arch", _text) or "",
        wsl=table.get("wsl", _truth) or False,
        tegra=table.get("tegra", _truth) or False,
        nvidia=_nvidia(table.table("nvidia")),
        amd=_amd(table.table("amd")),
        intel=Intel(
            pci=table.table("intel").list("pci", _pci),
            level_zero=table.table("intel").get("level_zero", _truth) or False,
        ),
        tpu=Tpu(pci=table.table("tpu").list("pci", _pci), devices=table.table("tpu").list("devices", _text)),
        container=table.get("container", _text),
        libc=table.get("libc", _text),
        visible=table.get("visible", _texts) or {},
        notes=table.list("notes", _text),
    )


def _nvidia(table: _Table) -> Nvidia:
    """Read the part about NVIDIA."""
    return Nvidia(
        cuda=table.get("cuda", _version),
        driver=table.get("driver", _text),
        cuinit=table.get("cuinit", _whole),
        gpus=tuple(
            NvidiaGpu(compute_capability=gpu.get("compute_capability", _capability), name=gpu.get("name", _text))
            for gpu in table.tables("gpus")
        ),
        source=table.get("source", _text),
        libcuda=table.get("libcuda", _text),
        pci=table.list("pci", _pci),
    )


def _amd(table: _Table) -> Amd:
    """Read the part about AMD."""
    return Amd(
        rocm=table.get("rocm", _text),
        gpus=table.list("gpus", _gfx),
        accessible=table.get("accessible", _truth),
    )


class _Table:
    """A JSON object whose values are checked as they are taken, so that errors name the key."""

    def __init__(self, entries: Mapping[str, object], where: str) -> None:
        self._entries = entries
        self._where = where

    def get(self, key: str, read: Callable[[object], T]) -> T | None:
        """Return a converted value, or nothing if it is missing or null."""
        value = self._entries.get(key)
        return None if value is None else self._read(key, value, read)

    def list(self, key: str, read: Callable[[object], T]) -> tuple[T, ...]:
        """Return a list of converted values, empty if it is missing or null."""
        values = self.get(key, _items) or []
        return tuple(self._read(f"{key}[{index}]", value, read) for index, value in enumerate(values))

    def table(self, key: str) -> _Table:
        """Return an object, empty if it is missing or null."""
        return _Table(self.get(key, _object) or {}, f"{self._where}{key}.")

    def tables(self, key: str) -> tuple[_Table, ...]:
        """Return a list of objects."""
        return tuple(
            _Table(entries, f"{self._where}{key}[{index}].") for index, entries in enumerate(self.list(key, _object))
        )

    def _read(self, key: str, value: object, read: Callable[[object], T]) -> T:
        """Convert one value, and name its key when that fails."""
        try:
            return read(value)
        except _UnfitError as error:
            raise MachineError(
                f"machine description: {self._where}{key} is {_show(value)}, expected {error}",
                remedy="'jaxlib-select detect --json' writes the expected form",
            ) from error


class _UnfitError(Exception):
    """A value is of the wrong type or form; the message says what is expected."""


def _object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _UnfitError("an object")
    return value


def _items(value: object) -> Any:
    if not isinstance(value, list):
        raise _UnfitError("a list")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _UnfitError("a text")
    return value


def _texts(value: object) -> dict[str, str]:
    entries = _object(value)
    if not all(isinstance(item, str) for item in entries.values()):
        raise _UnfitError("an object of texts")
    return {key: str(item) for key, item in entries.items()}


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise _UnfitError("true or false")
    return value


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _UnfitError("a whole number")
    return value


def _version(value: object) -> Version:
    if not isinstance(value, str) or not _VERSION.fullmatch(value):
        raise _UnfitError("a version such as '13.0'")
    return tuple(int(part) for part in value.split("."))


def _capability(value: object) -> tuple[int, int]:
    found = _CAPABILITY.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise _UnfitError("a compute capability such as '9.0'")
    return int(found.group(1)), int(found.group(2))


def _pci(value: object) -> str:
    if not isinstance(value, str) or not _PCI.fullmatch(value.lower()):
        raise _UnfitError("PCI vendor and device such as '8086:0bd5'")
    return value.lower()


def _gfx(value: object) -> str:
    if not isinstance(value, str) or not _GFX.fullmatch(value):
        raise _UnfitError("an architecture such as 'gfx942'")
    return value


def _kind(value: object) -> str:
    """Return what JSON calls a value."""
    return {list: "a list", str: "a text", bool: "true or false", type(None): "null"}.get(type(value), "a number")


def _show(value: object) -> str:
    """Return a value short enough for a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
