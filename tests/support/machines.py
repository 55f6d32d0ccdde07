# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Machines for which packages are chosen and environments are judged."""

from jaxlib_select.machine.model import Amd, Intel, Machine, Nvidia, NvidiaGpu


def nvidia_machine(name: str, capability: tuple[int, int], cuda: tuple[int, int] = (13, 0)) -> Machine:
    """Return a machine with one GPU of NVIDIA's, and a driver that serves a version of CUDA."""
    return Machine("linux", "x86_64", nvidia=Nvidia(cuda, cuinit=0, gpus=(NvidiaGpu(capability, name),)))


PLAIN = Machine("linux", "x86_64")
H100 = nvidia_machine("H100", (9, 0))
L4 = nvidia_machine("L4", (8, 9))
V100 = nvidia_machine("V100", (7, 0))
PASCAL = nvidia_machine("GTX 1080 Ti", (6, 1), cuda=(12, 4))
MI300 = Machine("linux", "x86_64", amd=Amd("7.0", ("gfx942",), accessible=True))
MAX = Machine("linux", "x86_64", intel=Intel(("8086:0bd5",), level_zero=True))
