# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Rules for AMD GPUs: ROCm, rights, GPU code, and what AMD itself supports."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from jaxlib_select.choose.rules import Fit, Verdict, visible_value
from jaxlib_select.facts import Backend, Select
from jaxlib_select.machine.model import Machine, format_version
from jaxlib_select.versions import at_least, read_version

_VARIABLE = "HIP_VISIBLE_DEVICES"
_NUMBER = re.compile(r"gfx(\d{1,2})([0-9a-f])([0-9a-f])")


def judge(machine: Machine, backend: Backend) -> Verdict:
    """Say whether a backend runs on the AMD GPUs of a machine; those inside processors are left alone."""
    gpus = machine.amd.gpus
    select = backend.select or Select("amd")
    if not gpus:
        return Verdict(Fit.NONE, "no AMD GPU was found", absent=True)
    discrete = [index for index, gpu in enumerate(gpus) if gpu not in select.integrated]
    wanted = discrete or list(range(len(gpus)))
    code = backend.code.get(machine.platform, ())
    coded = [index for index in wanted if gpus[index] in code]
    if not coded:
        reason = f"has no code for {describe([gpus[index] for index in wanted])}"
        return Verdict(Fit.NONE, reason, present=bool(discrete))
    problem = _system_problem(machine, select)
    if not discrete:  # as if they were not there, unless they are asked for
        place = f"{describe(gpus)} is part of a processor"
        return Verdict(Fit.NONE, f"{place}, and {problem[0]}") if problem else Verdict(Fit.ASKED, place)
    if problem:
        return Verdict(Fit.NONE, *problem, present=True)
    supported = [index for index in coded if _is_supported(gpus[index], machine.amd.rocm or "", select)]
    if not supported:
        return _doubt(machine, select, backend, [gpus[index] for index in coded])
    return _serve(gpus, supported, len(discrete), machine)


def _system_problem(machine: Machine, select: Select) -> tuple[str, str] | None:
    if machine.amd.accessible is False:
        advice = "add yourself to the groups render and video, and log in again"
        if machine.container:
            advice = "start the container with --device=/dev/kfd --device=/dev/dri"
        return "an AMD GPU is here, but /dev/kfd or /dev/dri/renderD* may not be opened", advice
    if machine.amd.rocm is None and select.bundled:
        return None
    wanted = f"ROCm {select.driver[0]} ({format_version(select.driver)} or newer)" if select.driver else "ROCm"
    if machine.amd.rocm is None:
        return f"needs {wanted}, none is installed", f"install {wanted}, or set ROCM_PATH to it"
    found = read_version(machine.amd.rocm) or (0,)
    if select.driver and (not at_least(found, select.driver) or (found[0] != select.driver[0] and not select.bundled)):
        return f"needs {wanted}, you have ROCm {machine.amd.rocm}", f"install {wanted} next to it or instead of it"
    return None


def _is_supported(gpu: str, rocm: str, select: Select) -> bool:
    if not select.supported:
        return True
    oldest = read_version(select.supported.get(gpu, ""))
    return oldest is not None and at_least(read_version(rocm) or (0,), oldest)


def _doubt(machine: Machine, select: Select, backend: Backend, gpus: Sequence[str]) -> Verdict:
    """Describe GPUs for which there is code, but no promise."""
    later = sorted({f"{gpu} from ROCm {select.supported[gpu]}" for gpu in gpus if gpu in select.supported})
    support = f"AMD supports {', '.join(later)} on" if later else f"AMD does not list {describe(gpus)} as supported"
    return Verdict(
        Fit.DOUBT,
        f"has code for {describe(gpus)}, but {support}; you have ROCm {machine.amd.rocm}",
        f"--backend {backend.name} tries it",
        present=True,
        best=max(_number(gpu) for gpu in gpus),
        served=len(gpus),
    )


def _serve(gpus: Sequence[str], supported: Sequence[int], wanted: int, machine: Machine) -> Verdict:
    hidden = sorted({*range(len(gpus))} - {*supported})
    served = [gpus[index] for index in supported]
    rocm = f"and ROCm {machine.amd.rocm} is installed" if machine.amd.rocm else "and brings ROCm along"
    reason = f"has code for {describe(served)}, {rocm}"
    if hidden:
        reason += f"; {describe([gpus[index] for index in hidden])} is to be hidden"
    return Verdict(
        Fit.FULL if len(supported) == wanted else Fit.PART,
        reason,
        present=True,
        best=max(_number(gpu) for gpu in served),
        served=len(supported),
        environment={_VARIABLE: visible_value(machine, _VARIABLE, supported, len(gpus))} if hidden else {},
        hidden=tuple(f"amd:{index}" for index in hidden),
    )


def describe(gpus: Sequence[str]) -> str:
    """Return the kinds of GPU and how many there are of each.

    >>> describe(["gfx942", "gfx90a", "gfx942"])
    'gfx90a, 2 x gfx942'
    """
    counts = Counter(gpus)
    kinds = sorted(counts, key=lambda gpu: (_number(gpu), gpu))
    return ", ".join(f"{counts[gpu]} x {gpu}" if counts[gpu] > 1 else gpu for gpu in kinds)


def _number(gpu: str) -> tuple[int, ...]:
    """Return what makes architectures comparable: major version, minor version, step."""
    found = _NUMBER.fullmatch(gpu)
    return (int(found.group(1)), int(found.group(2), 16), int(found.group(3), 16)) if found else ()
