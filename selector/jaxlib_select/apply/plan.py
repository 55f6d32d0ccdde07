# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What has to change in an environment so that it is what was decided: pure, nothing is run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from jaxlib_select.apply.installer import Installer, name_of
from jaxlib_select.choose.decision import Decision
from jaxlib_select.choose.policy import CPU
from jaxlib_select.facts import Facts
from jaxlib_select.installed.environment import Environment
from jaxlib_select.installed.plugins import Plugin, locate, read_lock
from jaxlib_select.names import normalize

_JAX = {"jax", "jaxlib"}
# Distributions by which JAX itself publishes an accelerator: the plugin, and its kernels.
_UPSTREAM = re.compile(r"jax-[a-z]+\d*-(pjrt|plugin)")


def make_plan(
    decisions: Sequence[Decision],
    environment: Environment,
    plugins: Sequence[Plugin],
    installer: Installer,
    options: Sequence[str] = (),
    *,
    families: Collection[str],
) -> tuple[tuple[str, ...], ...]:
    """Return the commands that carry decisions out, one or two for each package index; other backends go at last."""
    by_index: dict[str | None, list[Decision]] = {}
    for decision in decisions:
        by_index.setdefault(decision.index_url, []).append(decision)
    commands: list[tuple[str, ...]] = []
    for index, group in by_index.items():
        bindings = [text for decision in group for text in bindings_of(decision)]
        bindings = [text for text in bindings if has_foreign_jaxlib(environment, text.partition("==")[2])]
        foreign = [name for decision in group for name in _foreign_builds(decision, environment)]
        # Constraints are about what comes along anyway.
        texts = [text for decision in group for text in (*decision.requirements, *decision.constraints)]
        wanted = (*dict.fromkeys(texts), *dict.fromkeys(bindings))
        commands += installer.exchange(wanted, [*map(name_of, bindings), *foreign], index_url=index, options=options)
    about_jax = [entry for entry in decisions if is_ours(entry.package) or entry.package in _JAX]
    release = next((version for entry in about_jax if (version := release_of(entry))), "")
    for_jax = {normalize(entry.package) for entry in about_jax}
    after = other_backends(for_jax, environment, plugins, families, release) if for_jax else ()
    return (*commands, *([installer.uninstall(after)] if after else []))


def accelerator_families(*releases: Facts) -> frozenset[str]:
    """Return what JAX calls the platforms of the accelerator packages of some releases."""
    return frozenset(backend.family for facts in releases for backend in facts.backends) - {CPU}


def release_of(decision: Decision) -> str:
    """Return the release of JAX that a decision is about; empty if it is about none."""
    return next((text.partition("==")[2] for text in decision.requirements if name_of(text) in _JAX), "")


def other_backends(
    wanted: Collection[str],
    environment: Environment,
    plugins: Iterable[Plugin],
    families: Collection[str],
    release: str = "",
) -> tuple[str, ...]:
    """Return the installed accelerator packages that are not wanted.

    The package for the CPU is none, and stays: JAX uses the CPU with every accelerator. But that of another release
    refuses to work. Plugins for platforms that JAX itself does not know stay as well.
    """
    listed = [plugin for plugin in plugins if plugin.distribution]
    found = {plugin.distribution for plugin in listed if plugin.platform in families}
    cpu = [plugin for plugin in listed if plugin.ours and plugin.platform == CPU]
    found |= {plugin.distribution for plugin in cpu if plugin.version.partition("+")[0] != release and release}
    found |= {name for name in environment.distributions if _UPSTREAM.fullmatch(name)}
    return tuple(sorted(found - set(wanted)))


def is_ours(package: str) -> bool:
    """Return whether a distribution is one of ours that needs our jaxlib."""
    return package.startswith("jaxlib-")


def bindings_of(decision: Decision) -> tuple[str, ...]:
    """Return the requirement of our jaxlib that a decision implies; none if it is about no package of ours."""
    wanted = [text for text in decision.requirements if is_ours(decision.package) and name_of(text) == decision.package]
    return tuple(f"jaxlib=={text.partition('==')[2]}" for text in wanted)


def has_foreign_jaxlib(environment: Environment, version: str) -> bool:
    """Return whether a jaxlib of this version is installed that is none of ours: it has no release lock.

    Such as JAX's own, which serves no package of ours: only wheels have build tags, so installers would keep it.
    """
    return environment.version_of("jaxlib") == version and read_lock(locate(environment, "jaxlib")) is None


def _foreign_builds(decision: Decision, environment: Environment) -> tuple[str, ...]:
    """Return what is installed in the right version, but from another index than the one that was decided for.

    Such wheels have the same version up to a local part, as `torch` 2.9.0+cpu and 2.9.0+cu130, and installers take one
    for the other. The index is named after that part.
    """
    if decision.index_url is None:
        return ()
    wanted = decision.index_url.rstrip("/").rpartition("/")[2]
    installed = {name: environment.version_of(name) for name in map(name_of, decision.requirements)}
    builds = {name: version.partition("+")[2] for name, version in installed.items() if version is not None}
    return tuple(name for name, build in builds.items() if build != wanted)
