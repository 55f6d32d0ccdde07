# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Rules for the processor itself: it is always there."""

from __future__ import annotations

from jaxlib_select.choose.rules import Fit, Verdict
from jaxlib_select.facts import Backend
from jaxlib_select.machine.model import Machine


def judge(machine: Machine, backend: Backend) -> Verdict:  # noqa: ARG001  # one signature for all vendors
    """Say that the processor can be used."""
    return Verdict(Fit.FULL, "runs on every machine")
