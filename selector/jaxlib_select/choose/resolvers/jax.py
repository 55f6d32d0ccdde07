# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Decide which accelerator package of a JAX release to install."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from jaxlib_select.choose.decision import Decision
from jaxlib_select.choose.policy import CPU
from jaxlib_select.choose.ranking import Ranked, known_names, rank
from jaxlib_select.choose.resolve import Resolver
from jaxlib_select.choose.rules import Fit, platform_problem
from jaxlib_select.facts import OURS, UPSTREAM, known_releases, load_facts, releases_within
from jaxlib_select.machine.model import Machine
from jaxlib_select.versions import read_version


def decide(package: str, machine: Machine, backend: str, provider: str = OURS) -> Decision:
    """Decide about `jax` or `jaxlib`, with `==RELEASE` if it is not to be the newest known one."""
    name, _, release = package.partition("==")
    facts = load_facts(release).of(provider)
    ranked = rank(machine, facts.backends, backend)
    chosen, verdict = ranked.backend, ranked.verdict
    extras = ",".join(chosen.variants.get(ranked.variant, ()))
    bare = f"{name}=={facts.release}"
    wanted: tuple[str, ...] = (bare, f"{chosen.distribution}{f'[{extras}]' if extras else ''}=={chosen.version}")
    plain = provider == UPSTREAM and chosen.is_cpu
    if provider == UPSTREAM and chosen.select and chosen.select.requirement:  # which leaves open which jaxlib
        wanted = tuple(f"{package}=={facts.release}" for package in ("jax", "jaxlib", chosen.select.requirement))
    elif provider == UPSTREAM:  # an extra of `jax` brings the right package
        wanted = (*([bare] if name != "jax" else []), f"jax[{ranked.variant}]=={facts.release}")
    table = chosen.select.constraints if chosen.select and extras else {}
    constraints = verdict.constraints if extras else ()
    # The CPU is chosen even without a wheel; every other backend is rejected for that.
    problem = platform_problem(machine, chosen) if verdict.fit is Fit.FULL else None
    (plain_cpu,) = (entry for entry in load_facts(release).of(UPSTREAM).backends if entry.is_cpu)
    unsupported = platform_problem(machine, plain_cpu) is not None
    alone = "does not support this system" if unsupported else "runs on the CPU here"
    news = problem if unsupported or backend == CPU else None  # else it is what was asked for
    return Decision(
        package=chosen.distribution if chosen.tags and not (plain or problem) else name,
        backend=ranked.variant,
        requirements=(bare,) if problem or plain else wanted,
        candidates=ranked.candidates,
        constraints=constraints,
        index_url=chosen.index_url,
        warnings=tuple(_warnings(name, ranked, news, alone, bound=bool(extras))),
        environment=verdict.environment,
        hidden=verdict.hidden,
        bounds=_bounds(ranked.variant, table, constraints),
        provider=provider,
    )


def _warnings(name: str, ranked: Ranked, problem: str | None, alone: str, *, bound: bool) -> list[str]:
    """Return what the user should know; `bound` says whether bounds are kept by what comes along."""
    found = list(ranked.warnings)
    if problem:
        found.append(f"{name} {problem}: {name} alone {alone}")
    if ranked.verdict.constraints and not bound:
        found.append(f"the libraries of the system must keep these bounds: {', '.join(ranked.verdict.constraints)}")
    return found


def _known_names() -> tuple[str, ...]:
    """Return the names of the backends of all releases: one that a release lacks is no unknown one."""
    releases = [load_facts(release) for release in reversed(known_releases())] or [load_facts()]
    return known_names([backend for facts in releases for backend in facts.backends])


def _bounds(variant: str, table: Mapping[str, tuple[str, ...]], own: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    """Return the bounds that machines need, by what a lock calls them: the variant, and the GPUs they are for."""
    found = {variant: ()} | {f"{variant}-{_generation(limits)}": bounds for limits, bounds in sorted(table.items())}
    return found if own in found.values() else {**found, f"{variant}-mixed": own}


def _generation(limits: str) -> str:
    """Return what to call the GPUs of a range, as `jaxlib-auto` does: by age, or by the first one.

    >>> _generation("<7.5"), _generation(">=10,<12")
    ('legacy', 'cc100')
    """
    major, minor = (*(read_version(limits.lstrip("<>=")) or (0,)), 0)[:2]
    return "legacy" if limits.startswith("<") else f"cc{major}{minor}"


RESOLVER = Resolver(
    decide,
    backends=_known_names,
    name="jax",
    find_releases=releases_within,
    decide_upstream=functools.partial(decide, provider=UPSTREAM),
)
