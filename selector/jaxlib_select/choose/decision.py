# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What was decided, and why: one reason for every backend there is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from jaxlib_select import tables


@dataclass(frozen=True)
class Candidate:
    """A backend that was considered.

    Attributes:
        backend: Its name, such as `cuda12`.
        chosen: Whether it is the one.
        reason: Why, or why not, in one sentence.
        absent: Whether there is nothing of its hardware here; the reason may be another one, such as a missing wheel.
    """

    backend: str
    chosen: bool
    reason: str
    absent: bool = False


@dataclass(frozen=True)
class Decision:
    """What to install for one package on one machine.

    Attributes:
        package: Distribution that carries the accelerator, such as `jaxlib-cuda-12`; the package itself where a release
            has none for the CPU.
        backend: Name of the backend that was chosen, with its packaging, such as `cuda12` or `cuda12-local`.
        requirements: What to install, with versions and extras (PEP 508).
        candidates: Every backend that was considered, the chosen one among them.
        constraints: Bounds on versions of what the requirements bring along.
        index_url: Package index to use, if it must be another one than the user's own.
        warnings: What the user should know, one sentence each.
        environment: Variables to set before the program starts, such as the ones that hide devices.
        hidden: Devices that the chosen package cannot serve, such as `nvidia:1`.
        bounds: Every set of constraints that some machine needs with this backend, by the name of its group in a lock;
            empty if the backend has but one.
        provider: Whose wheels these are: `ours`, or `upstream` for those that JAX itself publishes; empty for another
            project.
    """

    package: str
    backend: str
    requirements: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    constraints: tuple[str, ...] = ()
    index_url: str | None = None
    warnings: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    bounds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    provider: str = ""

    @property
    def group(self) -> str:
        """Name of its group in a lock: the backend's, or that of the backend with these constraints."""
        return next((name for name, bounds in self.bounds.items() if bounds == self.constraints), self.backend)

    def to_json(self) -> dict[str, object]:
        """Return the documented JSON form."""
        found: dict[str, object] = tables.write(self)
        del found["bounds"]
        del found["candidates"]  # they are many: at the end
        documented = ("backend", "chosen", "reason")
        return found | {"candidates": [{key: getattr(entry, key) for key in documented} for entry in self.candidates]}
