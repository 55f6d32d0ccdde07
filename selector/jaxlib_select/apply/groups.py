# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which backends get a dependency group in a lock file, and the evidence that goes into it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from jaxlib_select.apply.installer import release_of
from jaxlib_select.apply.pylock import SCHEMA, Evidence, LockEnvironment
from jaxlib_select.choose.decision import Decision
from jaxlib_select.choose.policy import Choice, Policy, PolicySource
from jaxlib_select.choose.resolve import choose, pick_versions, resolve
from jaxlib_select.errors import PolicyError
from jaxlib_select.machine.file import to_json
from jaxlib_select.machine.model import Machine


@dataclass(frozen=True)
class Choices:
    """What a lock is about: the decision for a machine, installed by default, and what others may want instead."""

    package: str
    asked: str
    machine: Machine
    decision: Decision
    others: tuple[Decision, ...]

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Every decision, the one for this machine first."""
        return (self.decision, *self.others)

    def evidence(self, environment: LockEnvironment, arguments: Sequence[str] = ()) -> Evidence:
        """Return what the decision was made from, and what it holds for."""
        return Evidence(
            schema=SCHEMA,
            package=self.package,
            asked=self.asked,
            backend=self.decision.backend,
            requirements=(*self.decision.requirements, *self.decision.constraints),
            platform=environment.platform,
            python=environment.python,
            machine=json.dumps(to_json(self.machine), sort_keys=True),
            reasons={candidate.backend: candidate.reason for candidate in self.decision.candidates},
            arguments=tuple(arguments),
            provider=self.decision.provider,
        )


def make_choices(package: str, machine: Machine, policy: Policy, wanted: Sequence[str] | None = None) -> Choices:
    """Decide for a machine, and for the others that the lock shall serve: those named, or all with wheels here."""
    decision = resolve(package, machine, policy)
    name, versions = pick_versions(package)
    release = release_of(decision)
    exact = f"{name}=={release}" if release else package  # all groups are of one release
    package = exact if release != versions[0] else package
    names = wanted if wanted is not None else [candidate.backend for candidate in decision.candidates]
    others: dict[str, Decision] = {}
    for backend in names:
        try:
            choice = PolicySource(Choice(backend.strip(), "--groups"))
            other = resolve(exact, machine, Policy((choice,), policy.provider))
        except PolicyError:
            if wanted is not None:
                raise
            continue  # no wheels for this platform
        # Other machines may need other bounds on the same backend's libraries: these may depend on the GPU.
        bounds = other.bounds or {other.backend: other.constraints}
        variants = [replace(other, constraints=constraints) for constraints in bounds.values()]
        others.update({entry.group: entry for entry in variants})
    others.pop(decision.group, None)
    asked = choose(name, policy).backend
    return Choices(package, asked, machine, decision, tuple(others.values()))
