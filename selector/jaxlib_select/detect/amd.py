# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""AMD GPUs, from the topology that the kernel driver (kfd) shows, and ROCm, from the files it installs."""

from __future__ import annotations

import re

from jaxlib_select.detect.libraries import find_library
from jaxlib_select.detect.world import World
from jaxlib_select.machine import Amd

_NODES = "/sys/class/kfd/kfd/topology/nodes"
_VERSION = re.compile(r"\d+(\.\d+){1,2}")
_LIBRARY = re.compile(r"libamdhip64\.so\.(\d+)$")


def detect(world: World) -> tuple[Amd, list[str]]:
    """Return the AMD GPUs of a machine, and what was odd about them."""
    gpus = [_architecture(node) for node in _nodes(world)]
    known = [gpu for gpu in gpus if gpu is not None]
    notes = [] if len(known) == len(gpus) else ["an AMD GPU has an architecture number that makes no sense"]
    if not known:
        return Amd(rocm=_rocm(world)), notes
    shown, odd = _visible(world, known)
    return Amd(rocm=_rocm(world), gpus=tuple(shown), accessible=_accessible(world)), [*notes, *odd]


def _nodes(world: World) -> list[dict[str, int]]:
    """Return the properties of each node that computes; those of nodes hidden from a container cannot be read."""
    numbers = sorted(int(name) for name in world.names(_NODES) if name.isdigit())
    tables = [_properties(world.read(f"{_NODES}/{number}/properties") or "") for number in numbers]
    return [table for table in tables if table.get("simd_count", 0) > 0]


def _properties(text: str) -> dict[str, int]:
    """Read lines of a name and a number."""
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


def _accessible(world: World) -> bool:
    """Return whether this user may open the devices."""
    nodes = [name for name in world.names("/dev/dri") if name.startswith("renderD")]
    return world.can_open(world.path("/dev/kfd")) and any(
        world.can_open(world.path(f"/dev/dri/{name}")) for name in nodes
    )


def _rocm(world: World) -> str | None:
    """Return the version of ROCm: that of its folder, else that of the HIP library which can be found."""
    folder = world.environ.get("ROCM_PATH") or "/opt/rocm"
    found = _VERSION.match((world.read(f"{folder}/.info/version") or "").strip())
    return found.group() if found else _library_version(world, folder)


def _library_version(world: World, folder: str) -> str | None:
    """Return the major version of the HIP library, also of one that was installed by pip."""
    places = [f"{folder}/lib", *(f"{path}/_rocm_sdk_core/lib" for path in world.python_path if path)]
    majors = [int(found.group(1)) for place in places for found in map(_LIBRARY.match, world.names(place)) if found]
    majors += [major for major in (7, 6) if not majors and find_library(world, f"libamdhip64.so.{major}")]
    return str(max(majors)) if majors else None


def _visible(world: World, gpus: list[str]) -> tuple[list[str], list[str]]:
    """Apply the variables that hide GPUs, as HIP does: first the runtime's, then its own."""
    notes: list[str] = []
    for name in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"):
        if name not in world.environ:
            continue
        items = [item.strip() for item in world.environ[name].split(",") if item.strip()]
        if all(item.lstrip("-").isdigit() for item in items):
            gpus = [gpus[int(item)] for item in items if 0 <= int(item) < len(gpus)]
        else:
            notes.append(f"{name}={world.environ[name]} names GPUs by their ids, which are not known here")
    return gpus, notes
