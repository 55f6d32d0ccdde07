# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Backends by the names that programs use: their platforms, their distributions, and why one cannot be used here."""

from __future__ import annotations

import importlib.metadata
import os
import sys
from pathlib import Path

from jaxlib_select.choose.decision import Decision
from jaxlib_select.choose.ranking import Elsewhere, known_names, offers
from jaxlib_select.choose.resolvers.jax import find_elsewhere
from jaxlib_select.doctor import examine
from jaxlib_select.doctor.choice import decide, missing_hardware, upstream_name
from jaxlib_select.doctor.examine import facts_for, installer_of
from jaxlib_select.doctor.predict import ALIASES, BUILT_IN
from jaxlib_select.doctor.remedies import show_decision
from jaxlib_select.errors import BackendError
from jaxlib_select.facts import Facts
from jaxlib_select.installed.environment import Distribution, Environment, this_environment
from jaxlib_select.installed.plugins import find_plugins
from jaxlib_select.machine.model import Machine
from jaxlib_select.names import squeeze


def platforms_of(backend: str) -> tuple[str, ...]:
    """Return JAX's names of the platforms that are meant by a name.

    Raises:
        BackendError: Nobody knows the name; the message lists those there are.
    """
    if squeeze(backend) in ALIASES:
        return ALIASES[squeeze(backend)]
    facts = facts_for(_light_environment())
    families = {name: entry.family for entry in facts.backends for name in (entry.name, *entry.variants)}
    known = {**families, **{entry.family: entry.family for entry in facts.backends}}
    known.update({name: name for name in (*BUILT_IN, *ALIASES["gpu"])})
    found = next((platform for name, platform in known.items() if squeeze(name) == squeeze(backend)), None)
    if found is not None:
        return (found,)
    if backend in {plugin.platform for plugin in find_plugins(this_environment(), os.environ, facts)}:
        return (backend,)
    names = ", ".join(sorted({*known, *ALIASES}))
    raise BackendError(f"unknown backend: {backend!r}", remedy=f"known backends: {names}")


def distributions_of(backend: str) -> tuple[str, ...]:
    """Return the distributions that bring a backend which is named by its package; none for a platform's name."""
    facts = facts_for(_light_environment())
    if backend in {entry.family for entry in facts.backends}:
        return ()
    return tuple(
        name
        for entry in facts.backends
        if squeeze(backend) in map(squeeze, (entry.name, *entry.variants))
        for name in (entry.distribution, upstream_name(entry.name))
    )


def is_installed(distribution: str) -> bool:
    """Return whether a distribution is installed in this environment."""
    try:
        importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def explain_absence(backend: str, said: str = "") -> BackendError:
    """Return why a backend cannot be used here, with the command that installs it on this machine.

    Args:
        backend: Its name.
        said: What JAX said.
    """
    environment, machine = this_environment(), examine.detect_here()
    report = examine.examine_here(environment, machine)
    wanted, facts = platforms_of(backend), facts_for(environment)
    decision = _best(machine, facts, backend)
    installed = decision is None or is_installed(decision.package)
    reasons = [] if decision is None or installed else [f"{decision.package} is not installed"]
    absent = missing_hardware(machine, facts.backends)
    if all(platform in absent for platform in wanted):
        reasons.append("no GPU that a program can use was found" if backend in ALIASES else absent[wanted[0]])
    elif installed:
        reasons += [entry.reason for entry in report.prediction.platforms if entry.platform in wanted and entry.reason]
    remedy, note = "find out more: jaxlib-select doctor", ""
    other = _find_offer(machine, facts, backend)
    if other is not None:
        reasons, remedy = [other.problem], other.advice()
    elif decision is not None and not installed:
        command, note = show_decision(installer_of(environment), decision, os.environ)
        remedy = f"install it: {command}"
    cause = "; ".join(dict.fromkeys(reasons)) or said
    return BackendError(f"backend {backend!r} cannot be used here", cause=cause, remedy=remedy, note=note)


def _best(machine: Machine, facts: Facts, backend: str) -> Decision | None:
    """Return what to install for a name; of several platforms the one that the machine has."""
    if backend not in ALIASES:
        return decide(machine, facts, backend)
    preferred = decide(machine, facts, "prefer-gpu")
    if preferred is not None and preferred.backend != "cpu":
        return preferred
    return decide(machine, facts, ALIASES[backend][0])


def _find_offer(machine: Machine, facts: Facts, backend: str) -> Elsewhere | None:
    """Return another release that has what a name means, and runs here, if the installed one has nothing."""
    decision = decide(machine, facts, "prefer-gpu" if backend in ALIASES else backend)
    if decision is not None and decision.backend != "cpu":
        return None
    found = offers(machine, find_elsewhere("jax", machine, facts))
    wanted = {*map(squeeze, ALIASES.get(backend, (backend,)))}
    return next((other for other in found if wanted & {*map(squeeze, known_names([other.backend]))}), None)


def _light_environment() -> Environment:
    """Return this environment with nothing but the versions that the facts depend on."""
    folder = Path(sys.prefix)
    versions = {name: importlib.metadata.version(name) for name in ("jax", "jaxlib") if is_installed(name)}
    entries = {name: Distribution(name, version, folder, {}) for name, version in versions.items()}
    return Environment(Path(sys.executable), sys.version_info[:3], (), folder, entries)
