# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a backend runs on a machine: one module per vendor, found by its name, with a pure function `judge`."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable

from jaxlib_select.choose.rules import Fit, Verdict, platform_problem
from jaxlib_select.facts import Backend
from jaxlib_select.machine.model import Machine

Judge = Callable[[Machine, Backend], Verdict]


@functools.cache
def find_judge(vendor: str) -> Judge | None:
    """Return the rules for the accelerators of a vendor; None where no module here has its name."""
    if not vendor.isidentifier():
        return None
    name = f"{__name__}.{vendor}"
    try:
        judge: Judge = importlib.import_module(name).judge
    except ModuleNotFoundError as error:
        if error.name != name:  # the module is here, and lacks something itself
            raise
        return None
    return judge


def judge(machine: Machine, backend: Backend) -> Verdict:
    """Say whether a backend runs on a machine, and why."""
    if backend.select is None:
        return Verdict(Fit.NONE, f"its facts do not say which machines it serves; --backend {backend.name} takes it")
    if backend.is_cpu:
        return Verdict(Fit.FULL, "runs on any machine")
    vendor = backend.select.vendor
    judge_vendor = find_judge(vendor)
    if judge_vendor is None:
        return Verdict(Fit.NONE, f"accelerators of {vendor!r} cannot be detected; --backend {backend.name} takes it")
    verdict = judge_vendor(machine, backend)
    problem = platform_problem(machine, backend)
    return Verdict(Fit.NONE, problem, present=verdict.present, absent=verdict.absent) if problem else verdict
