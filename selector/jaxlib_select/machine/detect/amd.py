# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""AMD GPUs, from the topology that the kernel driver (kfd) shows, and ROCm, from the files it installs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jaxlib_select.machine.detect import Detector
from jaxlib_select.machine.host import Host, find_library
from jaxlib_select.machine.model import Amd

_NODES = "/sys/class/kfd/kfd/topology/nodes"
_VERSION = re.compile(r"(?:rocm_sdk_core-|\s*)(\d+(?:\.\d+){0,2})")
_FOLDER = "/opt/rocm"
_FILES = (".info/version", "core/.info/version")  # the second one since AMD's packages of ROCm 7.11
_LIBRARIES = {"libamd_smi.so.27": "10", "libamdhip64.so.7": "7", "libamdhip64.so.6": "6"}


def look(host: Host) -> tuple[Amd, list[str]]:
    """Return the AMD GPUs of a machine, and what was odd about them."""
    gpus = [_architecture(node) for node in _nodes(host)]
    known = [gpu for gpu in gpus if gpu is not None]
    notes = [] if len(known) == len(gpus) else ["an AMD GPU has an architecture number that makes no sense"]
    if not known:
        return Amd(rocm=_rocm(host)), notes
    shown, odd = _visible(host, known)
    return Amd(rocm=_rocm(host), gpus=tuple(shown), accessible=_accessible(host)), [*notes, *odd]


def _nodes(host: Host) -> list[dict[str, int]]:
    """Return the properties of each node that computes; those of nodes hidden from a container cannot be read."""
    numbers = sorted(int(name) for name in host.names(_NODES) if name.isdigit())
    tables = [_properties(host.read(f"{_NODES}/{number}/properties") or "") for number in numbers]
    return [table for table in tables if table.get("simd_count", 0) > 0]


def _properties(text: str) -> dict[str, int]:
    pairs = (line.split() for line in text.splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def _architecture(node: dict[str, int]) -> str | None:
    """Return the name of an architecture: 90010 is gfx90a, the last two numbers being hexadecimal digits.

    >>> _architecture({"gfx_target_version": 90010}), _architecture({"gfx_target_version": 110003})
    ('gfx90a', 'gfx1103')
    """
    number = node.get("gfx_target_version", 0)
    major, minor, step = number // 10000, number // 100 % 100, number % 100
    return f"gfx{major}{minor:x}{step:x}" if 6 <= major <= 99 and minor < 16 and step < 16 else None


def _accessible(host: Host) -> bool:
    nodes = [name for name in host.names("/dev/dri") if name.startswith("renderD")]
    return host.can_open(host.path("/dev/kfd")) and any(host.can_open(host.path(f"/dev/dri/{name}")) for name in nodes)


def _rocm(host: Host) -> str | None:
    """Return the version of the ROCm that plugins find first."""
    found = next(filter(None, map(_VERSION.match, _versions(host))), None)
    return found.group(1) if found else None


def _versions(host: Host) -> Iterator[str]:
    """Yield what ROCm says in a named folder, which AMD's wheels there are, what it says in its own folder.

    The last ones are those that libraries show. HIP of ROCm 10 has the name of that of ROCm 7.
    """
    named = host.environ.get("ROCM_PATH", "")
    yield from (host.read(f"{named}/{path}") or "" for path in _FILES)
    for folder in host.python_path:
        if folder and host.exists(f"{folder}/_rocm_sdk_core"):
            yield from (name for name in host.names(folder) if name.startswith("rocm_sdk_core-"))
    yield from (host.read(f"{_FOLDER}/{path}") or "" for path in _FILES)
    for name, version in _LIBRARIES.items():
        if host.exists(f"{named or _FOLDER}/lib/{name}") or find_library(host, name):
            yield version


def _visible(host: Host, gpus: list[str]) -> tuple[list[str], list[str]]:
    """Apply the variables that hide GPUs, as HIP does: first the runtime's, then its own."""
    notes: list[str] = []
    variables = [name for name in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES") if name in host.environ]
    for name in variables:
        items = [item.strip() for item in host.environ[name].split(",") if item.strip()]
        if all(item.lstrip("-").isdigit() for item in items):
            gpus = [gpus[int(item)] for item in items if 0 <= int(item) < len(gpus)]
        else:
            notes.append(f"{name}={host.environ[name]} names GPUs by their ids, which are not known here")
    return gpus, notes


DETECTOR = Detector("amd", look, variables=("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"))
