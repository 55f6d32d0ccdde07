# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Rules for Google's TPUs: the vendor's id alone is no proof, its network card has it too."""

from __future__ import annotations

from jaxlib_select.choose.rules import Fit, Verdict, matching
from jaxlib_select.facts import Backend, Select
from jaxlib_select.machine.model import Machine


def judge(machine: Machine, backend: Backend) -> Verdict:
    """Say whether a backend runs on the TPUs of a machine."""
    select = backend.select or Select("google")
    if not machine.tpu.pci:
        return Verdict(Fit.NONE, "no TPU was found", absent=True)
    chips = matching(machine.tpu.pci, select.devices)
    if not chips:
        shown = ", ".join(sorted(set(machine.tpu.pci)))
        return Verdict(Fit.NONE, f"{shown} is a device of Google's, but no TPU")
    if not machine.tpu.devices:
        reason = "a TPU is here, but no /dev/accel* or /dev/vfio/* to reach it"
        advice = "use an image for Cloud TPU VMs, which has the driver"
        if machine.container:
            advice = "start the container with --privileged, or with the TPU's /dev/accel* or /dev/vfio/* passed on"
        return Verdict(Fit.NONE, reason, advice, present=True)
    reason = f"serves {f'{len(chips)} TPU chips' if len(chips) > 1 else 'the TPU'}"
    return Verdict(Fit.FULL, reason, present=True, served=len(chips))
