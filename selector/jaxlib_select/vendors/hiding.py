# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The value of a variable such as CUDA_VISIBLE_DEVICES that leaves only some devices visible."""

from __future__ import annotations

from collections.abc import Sequence

from jaxlib_select.machine import Machine


def visible_value(machine: Machine, variable: str, kept: Sequence[int], total: int) -> str:
    """Return the value that keeps some devices, in terms of the value that is set now.

    Args:
        machine: Says how the variable is set; the devices were counted under that.
        variable: Its name.
        kept: The devices to keep, by index among those visible now.
        total: How many are visible now.
    """
    now = [item.strip() for item in machine.visible.get(variable, "").split(",") if item.strip()]
    names = now if len(now) == total else [str(index) for index in range(total)]
    return ",".join(names[index] for index in kept)
