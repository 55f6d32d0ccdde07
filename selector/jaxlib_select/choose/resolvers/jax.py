# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Decide which accelerator package of a JAX release to install."""

from __future__ import annotations

from collections.abc import Mapping

from jaxlib_select.choose.decision import Decision
from jaxlib_select.choose.ranking import known_names, rank
from jaxlib_select.choose.resolve import Resolver
from jaxlib_select.choose.rules import Fit, platform_problem
from jaxlib_select.facts import load_facts
from jaxlib_select.machine.model import Machine
from jaxlib_select.versions import read_version


def decide(package: str, machine: Machine, backend: str) -> Decision:
    """Decide about `jax` or `jaxlib`, with `==RELEASE` if it is not to be the newest known one."""
    name, _, release = package.partition("==")
    facts = load_facts(release)
    ranked = rank(machine, facts.backends, backend)
    chosen, verdict = ranked.backend, ranked.verdict
    # The CPU is chosen even without a wheel; every other backend is rejected for that.
    problem = platform_problem(machine, chosen) if verdict.fit is Fit.FULL else None
    extras = ",".join(chosen.variants.get(ranked.variant, ()))
    own = f"{chosen.distribution}{f'[{extras}]' if extras else ''}=={chosen.version}"
    warnings = list(ranked.warnings)
    if problem:
        only = f"only {name} itself is asked for, which has an XLA for the CPU where JAX supports it"
        warnings.append(f"{problem}: {only}")
    constraints = verdict.constraints if extras else ()
    if verdict.constraints and not extras:
        warnings.append(f"the libraries of the system must keep these bounds: {', '.join(verdict.constraints)}")
    table = chosen.select.constraints if chosen.select and extras else {}
    return Decision(
        package=chosen.distribution,
        backend=ranked.variant,
        requirements=(f"{name}=={facts.release}",) if problem else (f"{name}=={facts.release}", own),
        candidates=ranked.candidates,
        constraints=constraints,
        index_url=chosen.index_url,
        warnings=tuple(warnings),
        environment=verdict.environment,
        hidden=verdict.hidden,
        bounds=_bounds(ranked.variant, table, constraints),
    )


def _bounds(variant: str, table: Mapping[str, tuple[str, ...]], own: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    """Return the bounds that machines need, by what a lock calls them: the variant, and the GPUs they are for."""
    found: dict[str, tuple[str, ...]] = {variant: ()}
    found.update({f"{variant}-{_generation(limits)}": bounds for limits, bounds in sorted(table.items())})
    return found if own in found.values() else {**found, f"{variant}-mixed": own}


def _generation(limits: str) -> str:
    """Return what to call the GPUs of a range, as `jaxlib-auto` does: by age, or by the first one.

    >>> _generation("<7.5"), _generation(">=10,<12")
    ('legacy', 'cc100')
    """
    major, minor = (*(read_version(limits.lstrip("<>=")) or (0,)), 0)[:2]
    return "legacy" if limits.startswith("<") else f"cc{major}{minor}"


RESOLVER = Resolver(decide, backends=lambda: known_names(load_facts().backends), name="jax")
