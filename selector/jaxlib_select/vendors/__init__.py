# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a backend runs on a machine: one module per vendor, each a pure function of machine and facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jaxlib_select.facts import Backend
from jaxlib_select.machine import Machine
from jaxlib_select.vendors import amd, cpu, google, intel, nvidia
from jaxlib_select.vendors.platforms import platform_problem
from jaxlib_select.vendors.verdict import Fit, Verdict

Judge = Callable[[Machine, Backend], Verdict]

JUDGES: Mapping[str, Judge] = {
    "cpu": cpu.judge,
    "nvidia": nvidia.judge,
    "amd": amd.judge,
    "intel": intel.judge,
    "google": google.judge,
}


def judge(machine: Machine, backend: Backend) -> Verdict:
    """Say whether a backend runs on a machine, and why."""
    if backend.select is None:
        return Verdict(Fit.NONE, f"its facts do not say which machines it serves; --backend {backend.name} takes it")
    if backend.select.vendor not in JUDGES:
        return Verdict(
            Fit.NONE,
            f"accelerators of {backend.select.vendor!r} cannot be detected; --backend {backend.name} takes it",
        )
    verdict = JUDGES[backend.select.vendor](machine, backend)
    problem = platform_problem(machine, backend)
    if problem and backend.select.vendor != "cpu":
        return Verdict(Fit.NONE, problem, present=verdict.present)
    return verdict
