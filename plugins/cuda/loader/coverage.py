# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a library holds code that a GPU can run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_CODE = re.compile(r"(sm|compute)_(\d+)([af]?)")


def runs_on(code: str, capability: int) -> bool:
    """Return whether a GPU of some compute capability can run code, at once or after translation by the driver.

    Machine code runs on its own and later minor versions of one major version, code for the driver (PTX) on
    everything newer.
    With the suffix `a` it runs on that very version only, with `f` on its family.

    Args:
        code: What the code was compiled for, such as `sm_80` or `compute_120`.
        capability: Ten times the major version plus the minor one.

    >>> [runs_on(code, 86) for code in ("sm_80", "sm_90", "compute_75", "sm_86a", "sm_80a")]
    [True, False, True, True, False]
    """
    match = _CODE.fullmatch(code)
    if match is None:
        return False
    kind, target, suffix = match[1], int(match[2]), match[3]
    if suffix == "a":
        return capability == target
    within = capability // 10 == target // 10
    return capability >= target and (within or (kind == "compute" and not suffix))


def uncovered(code: Iterable[str], capabilities: Sequence[int]) -> list[int]:
    """Return the compute capabilities for which there is no code; none if it is not known what there is."""
    names = [name for name in code if _CODE.fullmatch(name)]
    missing = {capability for capability in capabilities if not any(runs_on(name, capability) for name in names)}
    return sorted(missing) if names else []
