# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""This machine and this environment: where the doctor's pure parts meet the real world."""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from jaxlib_select.apply.installer import Installer, find_installer, pip_installer
from jaxlib_select.choose.decision import Decision
from jaxlib_select.choose.policy import Policy, PolicySource, from_arguments
from jaxlib_select.choose.resolve import resolve
from jaxlib_select.doctor.case import show_decision
from jaxlib_select.doctor.examine import Surroundings, examine
from jaxlib_select.doctor.forecast import ALIASES, BUILT_IN
from jaxlib_select.doctor.hardware import missing_hardware, upstream_name
from jaxlib_select.doctor.report import Report
from jaxlib_select.errors import BackendError, FactsError, InstallError, SelectError
from jaxlib_select.facts import Facts, known_releases, load_facts
from jaxlib_select.installed.discovery import Plugin, find_plugins, locate, read_lock
from jaxlib_select.installed.environment import Distribution, Environment, this_environment
from jaxlib_select.machine.model import Machine


def examine_here(
    environment: Environment | None = None,
    machine: Machine | None = None,
    *,
    options: Sequence[str] = (),
    kind: str | None = None,
) -> Report:
    """Examine an environment on this machine.

    Args:
        environment: The environment; the one this program runs in unless given.
        machine: The machine; this one unless given.
        options: What the commands that mend are to say to the installer, such as `--find-links DIR`.
        kind: `uv` or `pip` to insist on one.
    """
    environment = environment if environment is not None else this_environment()
    machine = machine if machine is not None else detect_here()
    around = surroundings(environment, machine, os.environ)
    return examine(environment, around, installer_of(environment, options=options, kind=kind))


def detect_here() -> Machine:
    """Look at this machine."""
    from jaxlib_select.machine.detect import detect  # not needed where a machine is described by a file

    return detect()


def surroundings(environment: Environment, machine: Machine, variables: Mapping[str, str]) -> Surroundings:
    """Work out what an environment is to be judged by.

    Args:
        environment: The environment.
        machine: The hardware.
        variables: Environment variables.
    """
    facts = facts_for(environment)
    return Surroundings(
        machine=machine,
        variables=variables,
        decision=decide(machine, facts, "auto"),
        facts=facts,
    )


def installer_of(environment: Environment, *, options: Sequence[str] = (), kind: str | None = None) -> Installer:
    """Return the installer for messages: there is always one to show.

    Args:
        environment: The environment.
        options: Where wheels are; where those that are installed came from unless given.
        kind: `uv` or `pip` to insist on one.
    """
    try:
        installer = find_installer(environment, os.environ, kind=kind)
    except InstallError:
        installer = pip_installer(environment.python)
    return replace(installer, sources=tuple(options) or find_sources(environment))


def find_sources(environment: Environment) -> tuple[str, ...]:
    """Return the options that lead to the folders from which our wheels were installed, where that is recorded."""
    names = {backend.distribution for backend in facts_for(environment).backends}
    names |= {"jaxlib"} if read_lock(locate(environment, "jaxlib")) is not None else set()
    urls = [urlsplit(found.url) for name, found in environment.distributions.items() if name in names]
    folders = [Path(url2pathname(url.path)).parent for url in urls if url.scheme == "file"]
    there = dict.fromkeys(str(folder) for folder in folders if folder.is_dir())
    return tuple(word for folder in there for word in ("--find-links", folder))


def facts_for(environment: Environment) -> Facts:
    """Return the facts about the JAX that is installed, else about the newest known release; none if none is known."""
    version = environment.version_of("jax") or environment.version_of("jaxlib") or ""
    try:
        return load_facts(version if version in known_releases() else "")
    except FactsError:
        return Facts(version, ())


def decide(machine: Machine, facts: Facts, backend: str) -> Decision | None:
    """Return what to install for a backend on a machine; nothing if that cannot be had."""
    try:
        return resolve("jax", machine, _policy(backend), release=facts.release)
    except SelectError:
        return None


def platforms_of(backend: str) -> tuple[str, ...]:
    """Return JAX's names of the platforms that a name stands for.

    Raises:
        BackendError: Nobody knows the name; the message lists those there are.
    """
    if backend in ALIASES:
        return ALIASES[backend]
    facts = facts_for(_light_environment())
    families = {name: entry.family for entry in facts.backends for name in (entry.name, *entry.variants)}
    known = {**families, **{entry.family: entry.family for entry in facts.backends}}
    known.update({name: name for name in (*BUILT_IN, *ALIASES["gpu"])})
    if backend in known:
        return (known[backend],)
    registered = {plugin.platform for plugin in _foreign_plugins()}
    if backend in registered:
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
        if backend in (entry.name, *entry.variants)
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
    environment, machine = this_environment(), detect_here()
    report = examine_here(environment, machine)
    wanted = platforms_of(backend)
    facts = facts_for(environment)
    decision = _best(machine, facts, backend)
    here = decision is None or is_installed(decision.package)
    reasons = [] if decision is None or here else [f"{decision.package} is not installed"]
    absent = missing_hardware(machine, facts.backends)
    if all(platform in absent for platform in wanted):
        reasons.append("no GPU that a program can use was found" if backend in ALIASES else absent[wanted[0]])
    elif here:
        reasons += [entry.reason for entry in report.prediction.forecasts if entry.platform in wanted and entry.reason]
    remedy = "find out more: jaxlib-select doctor"
    if decision is not None and not here:
        remedy = f"install it: {show_decision(installer_of(environment), decision, os.environ)}"
    return BackendError(
        f"backend {backend!r} cannot be used here", cause="; ".join(dict.fromkeys(reasons)) or said, remedy=remedy
    )


def _best(machine: Machine, facts: Facts, backend: str) -> Decision | None:
    """Return what to install for a name; of several platforms the one that the machine has."""
    if backend not in ALIASES:
        return decide(machine, facts, backend)
    preferred = decide(machine, facts, "prefer-gpu")
    if preferred is not None and preferred.backend != "cpu":
        return preferred
    return decide(machine, facts, ALIASES[backend][0])


def _policy(backend: str) -> Policy:
    return Policy((from_arguments([backend]), PolicySource()))


def _light_environment() -> Environment:
    """Return this environment with nothing but the versions that the facts depend on."""
    folder = Path(sys.prefix)
    versions = {name: importlib.metadata.version(name) for name in ("jax", "jaxlib") if is_installed(name)}
    entries = {name: Distribution(name, version, folder, {}) for name, version in versions.items()}
    return Environment(Path(sys.executable), sys.version_info[:3], (), folder, entries)


def _foreign_plugins() -> tuple[Plugin, ...]:
    return find_plugins(this_environment(), os.environ)
