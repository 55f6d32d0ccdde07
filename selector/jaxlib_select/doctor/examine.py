# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Examine an environment: what JAX will find there, what it will do with that on a machine, and what is wrong."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from jaxlib_select.apply.installer import Installer, find_installer, name_of, pip_installer, release_of, uv_installer
from jaxlib_select.choose.decision import Decision
from jaxlib_select.doctor.ask import ask_plugins
from jaxlib_select.doctor.choice import (
    Surroundings,
    conditions_of,
    decide,
    describe_hardware,
    is_silent_cpu,
    judge_choice,
)
from jaxlib_select.doctor.predict import predict
from jaxlib_select.doctor.problems import find_problems
from jaxlib_select.doctor.remedies import LOCK_ERRORS, Examination
from jaxlib_select.doctor.report import Report, sort_findings
from jaxlib_select.errors import InstallError
from jaxlib_select.facts import OURS, UPSTREAM, Facts, facts_about
from jaxlib_select.installed.environment import Environment, this_environment
from jaxlib_select.installed.plugins import Lock, Plugin, find_plugins, locate, read_lock, set_version
from jaxlib_select.machine import detect
from jaxlib_select.machine.model import Machine


def examine_here(
    environment: Environment | None = None,
    machine: Machine | None = None,
    *,
    options: Sequence[str] = (),
    kind: str | None = None,
    described: bool = False,
    provider: str | None = None,
) -> Report:
    """Examine an environment on a machine: those that this program runs in, unless given.

    Args:
        environment: The environment.
        machine: The machine.
        options: What the commands that fix are to say to the installer, such as `--find-links DIR`.
        kind: `uv` or `pip` to insist on one.
        described: Whether the machine is one of a file, and not this one.
        provider: Whose wheels those commands are to install; by default ours if something says where these are, or any
            is installed, else upstream's.
    """
    environment = environment if environment is not None else this_environment()
    machine = machine if machine is not None else detect.detect()
    facts = facts_for(environment)
    provider = provider or (OURS if options or has_ours(environment) else UPSTREAM)
    decision = decide(machine, "auto", provider, facts.release)
    around = Surroundings(machine, facts, os.environ, decision, described, provider=provider)
    return examine(environment, around, installer_of(environment, options=options, kind=kind))


def has_ours(environment: Environment) -> bool:
    """Return whether one of our wheels is installed: an accelerator's package, or a jaxlib with a lock."""
    packages = {backend.distribution for backend in facts_for(environment).backends}
    return not packages.isdisjoint(environment.distributions) or read_lock(locate(environment, "jaxlib")) is not None


def examine(environment: Environment, around: Surroundings, installer: Installer) -> Report:
    """Examine an environment; JAX is not started, and what is opened is opened by other processes."""
    found = find_plugins(environment, around.variables, around.facts)
    works = around.machine.nvidia.libcuda not in ("hung", "crashed")
    if not works:  # nobody asks such a driver again, so what is known of the machine counts
        around = replace(around, described=True)
    conditions = conditions_of(environment, around)
    asked = ask_plugins(found, environment, around.variables, opening=works, here=not around.described)
    jaxlib = read_lock(locate(environment, "jaxlib"))
    around = replace(around, decision=_keep_set(around.decision, jaxlib, *(plugin.lock for plugin in asked)))
    plugins = tuple(_judge_from_outside(plugin, jaxlib, environment) for plugin in asked)
    if around.described:
        plugins = tuple(replace(plugin, answer=plugin.answer.without_hardware()) for plugin in plugins)
    exam = Examination(
        environment=environment,
        plugins=plugins,
        conditions=conditions,
        prediction=predict(plugins, conditions),
        installer=installer,
        facts=around.facts,
        jaxlib=jaxlib,
        decision=around.decision,
        provider=around.provider,
    )
    return Report(
        environment=environment,
        versions=_versions(environment, plugins),
        plugins=plugins,
        prediction=exam.prediction,
        hardware=describe_hardware(around.machine, around.facts.backends),
        findings=sort_findings([*find_problems(exam), *judge_choice(exam, around)]),
        silent_cpu=is_silent_cpu(exam.prediction, around),
        renewal=exam.renew(),
        jaxlib_origin=("ours" if jaxlib is not None else "upstream") if environment.version_of("jaxlib") else None,
    )


def _keep_set(decision: Decision | None, *locks: Lock | None) -> Decision | None:
    """Return a decision about the set of that release that is installed: its label may be another than in the facts."""
    if decision is None or decision.provider != OURS:
        return decision
    version = set_version(release_of(decision), *locks)
    ours = {text for text in decision.requirements if version and name_of(text) == decision.package}
    kept = (f"{text.partition('==')[0]}=={version}" if text in ours else text for text in decision.requirements)
    return replace(decision, requirements=tuple(kept))


def _judge_from_outside(plugin: Plugin, jaxlib: Lock | None, environment: Environment) -> Plugin:
    """Return a plugin with what it does not say itself, because it is no plugin, too old to be asked, or damaged."""
    if not plugin.module and not plugin.refused and plugin.answer.library.path is None:
        refused = f"{str(plugin.location)!r} is no PJRT plugin that can be opened, which makes every use of JAX fail"
        return replace(plugin, refused=refused)
    if plugin.lock is not None and jaxlib is None and (version := environment.version_of("jaxlib")):
        what = f"upstream's jaxlib {version} was installed over the one that {plugin.label} {plugin.version} needs"
        problems = tuple(
            replace(entry, what=what) if entry.code in LOCK_ERRORS else entry for entry in plugin.answer.problems
        )
        plugin = replace(plugin, answer=replace(plugin.answer, problems=problems))
    return plugin


def _versions(environment: Environment, plugins: Sequence[Plugin]) -> dict[str, str]:
    names = ["jax", "jaxlib", *sorted({plugin.distribution for plugin in plugins if plugin.distribution})]
    names += sorted(name for name in environment.distributions if name.startswith("jax-") and name.endswith("-plugin"))
    versions = {name: environment.version_of(name) for name in (*names, "libtpu")}
    return {name: version for name, version in versions.items() if version is not None}


def installer_of(environment: Environment, *, options: Sequence[str] = (), kind: str | None = None) -> Installer:
    """Return the installer for messages: there is always one to show, with a note if it has to be installed first.

    Wheels are where the options say, else where those that are installed came from.
    """
    try:
        installer = find_installer(environment, os.environ, kind=kind)
    except InstallError as error:
        make = uv_installer if kind == "uv" else pip_installer
        installer = replace(make(environment.python), note=error.remedy)
    if installer.kind == "uv":
        installer = replace(installer, project=find_project(environment))
    return replace(installer, sources=tuple(options) or find_sources(environment))


def find_project(environment: Environment) -> Path | None:
    """Return the uv project of an environment, if it is of one: uv removes what the project's lock does not list."""
    folder = environment.prefix.parent
    return folder if (folder / "uv.lock").is_file() else None


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
    return facts_about(environment.version_of("jax") or environment.version_of("jaxlib") or "")
