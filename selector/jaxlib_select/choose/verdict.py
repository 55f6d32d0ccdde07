# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What one vendor's rules say about one backend on one machine."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field


class Fit(enum.IntEnum):
    """How well a backend fits a machine."""

    NONE = 0  # it does not run here
    ASKED = 1  # it runs, but on what nobody takes unless it is asked for by name
    DOUBT = 2  # it may run: taken only if an accelerator is preferred, or asked for
    PART = 3  # it runs on some of the devices
    FULL = 4  # it runs on all of the devices


@dataclass(frozen=True)
class Verdict:
    """Whether a backend runs on a machine.

    Attributes:
        fit: How well.
        reason: Why, or why not, in one sentence without its period.
        advice: What to do so that it would run; empty if nothing helps.
        present: Whether a device of this vendor was seen at all.
        best: Compares the best device that is served with those of other backends of the vendor.
        served: How many devices are served.
        constraints: Bounds on what the backend brings along.
        warnings: What the user should know if it is taken.
        environment: Variables that hide the devices that are not served.
        hidden: Those devices.
    """

    fit: Fit
    reason: str
    advice: str = ""
    present: bool = False
    best: tuple[int, ...] = ()
    served: int = 0
    constraints: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
