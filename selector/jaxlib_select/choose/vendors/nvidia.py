# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Rules for NVIDIA GPUs: driver, GPU code, Tegra, and which GPUs to hide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from jaxlib_select.choose.cuda import driver_advice, driver_problem, is_tegra, runs
from jaxlib_select.choose.rules import Fit, Verdict, visible_value
from jaxlib_select.facts import Backend, Select
from jaxlib_select.machine.model import Machine, format_version
from jaxlib_select.sentences import describe_gpus
from jaxlib_select.versions import at_least, in_range

_VARIABLE = "CUDA_VISIBLE_DEVICES"


def judge(machine: Machine, backend: Backend) -> Verdict:
    """Say whether a backend runs on the NVIDIA GPUs of a machine.

    All visible GPUs count: a program fails on a GPU without code for it, even if the others have some.
    """
    select = backend.select or Select("nvidia")
    covered = _covered(machine, backend.code.get(machine.platform, ()), select)
    served = [machine.nvidia.gpus[index].compute_capability for index in covered]
    capabilities = sorted({capability for capability in served if capability}, reverse=True)
    bounds = [text for texts in _within(select.constraints, capabilities) for text in texts]
    wsl = ["CUDA in WSL2 is experimental in JAX"] if machine.wsl else []
    # Bounds are those of the GPUs: who takes the backend in spite of the driver's state needs them all the same.
    return replace(
        _fit(machine, select, covered),
        best=capabilities[0] if capabilities else (),
        served=len(covered),
        constraints=tuple(dict.fromkeys(bounds)),
        warnings=(*dict.fromkeys(_within(select.notes, capabilities)), *wsl),
    )


def _fit(machine: Machine, select: Select, covered: Sequence[int]) -> Verdict:
    """Say whether driver and GPU code let a backend run; `covered` are the GPUs for which it has code, by index."""
    gpus = machine.nvidia.gpus
    present = bool(gpus or machine.nvidia.pci)
    problem = driver_problem(machine)
    if problem:
        present = present or problem.hardware
        fit = Fit.DOUBT if problem.doubtful and covered else Fit.NONE
        return Verdict(fit, problem.reason, problem.advice if present else "", present, absent=not present)
    if not covered:
        return Verdict(Fit.NONE, _no_code(machine, select), present=present)
    oldest, cuda = select.driver, machine.nvidia.cuda or ()
    if oldest and not at_least(cuda, oldest):
        wanted, served = format_version(oldest), format_version(cuda)
        reason = f"needs a driver for CUDA {wanted}, this one serves CUDA {served}"
        return Verdict(Fit.NONE, reason, driver_advice(oldest), present)
    return _serve(machine, covered)


def _covered(machine: Machine, code: Sequence[str], select: Select) -> list[int]:
    capabilities = [gpu.compute_capability for gpu in machine.nvidia.gpus]
    return [
        index
        for index, capability in enumerate(capabilities)
        if capability is not None
        and runs(
            capability,
            code,
            tegra=machine.tegra,
            cuda=machine.nvidia.cuda,
            driver=select.driver,
            toolkit=select.toolkit,
            oldest=select.oldest_capability,
        )
    ]


def _serve(machine: Machine, covered: Sequence[int]) -> Verdict:
    gpus = machine.nvidia.gpus
    served = [gpus[index] for index in covered]
    hidden = sorted({*range(len(gpus))} - {*covered})
    reason = f"has code for {describe_gpus(served)}, and the driver serves CUDA {format_version(machine.nvidia.cuda)}"
    if hidden:
        reason += f"; it does not serve {describe_gpus([gpus[index] for index in hidden])}, to be hidden"
    return Verdict(
        Fit.PART if hidden else Fit.FULL,
        reason,
        present=True,
        environment={_VARIABLE: visible_value(machine, _VARIABLE, covered, len(gpus))} if hidden else {},
        hidden=tuple(f"nvidia:{index}" for index in hidden),
    )


def _within(table: Mapping[str, Any], capabilities: Sequence[tuple[int, int]]) -> list[Any]:
    """Return the values whose range of compute capabilities holds for one of these."""
    found = [bounds for bounds in sorted(table) if any(in_range(capability, bounds) for capability in capabilities)]
    return [table[bounds] for bounds in found]


def _no_code(machine: Machine, select: Select) -> str:
    """Say that a backend serves none of the GPUs: they are too old, or it has no code for them."""
    gpus = machine.nvidia.gpus
    oldest = select.oldest_capability
    if oldest and not any(at_least(gpu.compute_capability or oldest, oldest) for gpu in gpus):
        return f"serves compute capability {format_version(oldest)} and newer, not {describe_gpus(gpus)}"
    if any(is_tegra(gpu.compute_capability, tegra=machine.tegra) for gpu in gpus):
        return f"has no code made for exactly {describe_gpus(gpus)}; a Tegra chip runs no other"
    return f"has no code for {describe_gpus(gpus)}"
