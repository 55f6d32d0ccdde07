# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What was decided, and why: one reason for every backend there is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Candidate:
    """A backend that was considered.

    Attributes:
        backend: Its name, such as `cuda12`.
        chosen: Whether it is the one.
        reason: Why, or why not, in one sentence.
    """

    backend: str
    chosen: bool
    reason: str


@dataclass(frozen=True)
class Decision:
    """What to install for one package on one machine.

    Attributes:
        package: Distribution that carries the accelerator, such as `jaxlib-cuda-12`.
        backend: Name of the backend that was chosen, with its packaging, such as `cuda12` or `cuda12-local`.
        requirements: What to install, with versions and extras (PEP 508).
        candidates: Every backend that was considered, the chosen one among them.
        constraints: Bounds on versions of what the requirements bring along.
        index_url: Package index to use, if it must be another one than the user's own.
        warnings: What the user should know, one sentence each.
        environment: Variables to set before the program starts, such as the ones that hide devices.
        hidden: Devices that the chosen package cannot serve, such as `nvidia:1`.
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

    def to_json(self) -> dict[str, object]:
        """Return the documented JSON form."""
        return {
            "package": self.package,
            "backend": self.backend,
            "requirements": list(self.requirements),
            "constraints": list(self.constraints),
            "index_url": self.index_url,
            "warnings": list(self.warnings),
            "environment": dict(self.environment),
            "hidden": list(self.hidden),
            "candidates": [
                {"backend": candidate.backend, "chosen": candidate.chosen, "reason": candidate.reason}
                for candidate in self.candidates
            ],
        }
