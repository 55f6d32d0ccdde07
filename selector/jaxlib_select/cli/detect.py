# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`detect`: show which accelerators this machine has."""

from __future__ import annotations

import argparse
import json

from jaxlib_select.machine.detect import detect
from jaxlib_select.machine.file import to_json
from jaxlib_select.machine.model import Devices, Machine, format_version
from jaxlib_select.sentences import describe_gpus


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--json", action="store_true", help="print the form that 'resolve --machine' reads")


def execute(args: argparse.Namespace) -> int:
    """Look, and print what was found."""
    machine = detect()
    lines = [*format_machine(machine), "next    jaxlib-select resolve jax"]
    print(json.dumps(to_json(machine), indent=2) if args.json else "\n".join(lines))
    return 0


def format_machine(machine: Machine) -> list[str]:
    """Return what a person wants to read about a machine, a line per vendor."""
    where = [name for name, holds in (("WSL2", machine.wsl), ("Tegra", machine.tegra)) if holds]
    where += [f"in a container ({machine.container})"] if machine.container else []
    where += [machine.libc] if machine.libc else []
    level_zero = "Level Zero" if machine.intel.level_zero else "no Level Zero"
    intel = f"{', '.join(machine.intel.pci)}; {level_zero}" if machine.intel.pci else "none"
    return [
        f"system  {', '.join([f'{machine.os} {machine.arch}', *where])}",
        f"nvidia  {_nvidia(machine)}",
        f"amd     {_amd(machine)}",
        f"intel   {intel}",
        f"tpu     {_devices(machine.tpu)}",
        *(f"{name:<7} {_devices(found)}" for name, found in machine.others.items()),
        *(f"set     {name}={value}" for name, value in machine.visible.items()),
        *(f"note    {note}" for note in machine.notes),
    ]


def _nvidia(machine: Machine) -> str:
    nvidia = machine.nvidia
    driver = [f"driver {nvidia.driver}"] if nvidia.driver else []
    driver += [f"CUDA {format_version(nvidia.cuda)}"] if nvidia.cuda else []
    driver += [f"cuInit {nvidia.cuinit}"] if nvidia.cuinit else []
    driver += [f"libcuda {nvidia.libcuda}"] if nvidia.libcuda not in {None, "ok", "absent"} else []
    driver += ["no libcuda"] if nvidia.libcuda == "absent" and (nvidia.gpus or nvidia.pci) else []
    devices = describe_gpus(nvidia.gpus) if nvidia.gpus else ", ".join(nvidia.pci)
    return "; ".join(part for part in (devices, ", ".join(driver)) if part) or "none"


def _amd(machine: Machine) -> str:
    amd = machine.amd
    if not amd.gpus:
        return "none"
    rocm = f"ROCm {amd.rocm}" if amd.rocm else "no ROCm"
    rights = "; you may not open the devices" if amd.accessible is False else ""
    return f"{', '.join(amd.gpus)}; {rocm}{rights}"


def _devices(found: Devices) -> str:
    """Return the line of a vendor without rules of its own."""
    if not found.pci:
        return "none"
    driver = [f"driver {found.driver}"] if found.driver else []
    return "; ".join([", ".join(found.pci), ", ".join(found.devices) or "no device nodes", *driver])
