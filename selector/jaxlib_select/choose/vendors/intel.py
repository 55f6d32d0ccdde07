# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Rules for Intel GPUs: discrete ones only, and Level Zero must be there."""

from __future__ import annotations

from jaxlib_select.choose.rules import Fit, Verdict, matching
from jaxlib_select.facts import Backend, Select
from jaxlib_select.machine.model import Machine


def judge(machine: Machine, backend: Backend) -> Verdict:
    """Say whether a backend runs on the Intel GPUs of a machine."""
    select = backend.select or Select("intel")
    display = machine.intel.pci
    if not display:
        return Verdict(Fit.NONE, "no Intel GPU was found", absent=True)
    discrete = matching(display, select.devices)
    if not discrete:
        shown = ", ".join(sorted(set(display)))
        return Verdict(Fit.NONE, f"{shown} is no discrete Intel GPU that it serves; one in a processor is left alone")
    if not machine.intel.level_zero:
        reason = "an Intel GPU is here, but not Level Zero (libze_loader.so.1)"
        advice = "install Intel's GPU driver with libze1 (level-zero) and libze-intel-gpu1"
        return Verdict(Fit.NONE, reason, advice, present=True)
    served = f"{len(discrete)} Intel GPUs" if len(discrete) > 1 else "the Intel GPU"
    return Verdict(Fit.FULL, f"serves {served} through Level Zero", present=True, served=len(discrete))
