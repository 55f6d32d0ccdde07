# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""JAX, jaxlib and our plugins: whether they are one set, and the one command after which they are.

The rules for JAX and jaxlib are those of JAX itself (`jax._src.lib`), those for plugins are the plugins' own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from jaxlib_select.apply.installer import name_of
from jaxlib_select.doctor.case import Case
from jaxlib_select.doctor.forecast import FAILS, lock_problem
from jaxlib_select.doctor.report import ERROR, WARNING, Finding
from jaxlib_select.doctor.rivals import find_surplus
from jaxlib_select.installed.environment import Environment
from jaxlib_select.versions import read_version


def find_break(environment: Environment) -> tuple[str, str]:
    """Return the code of what keeps JAX from being imported, and one sentence about it; empty if nothing does."""
    jax, jaxlib = environment.version_of("jax"), environment.version_of("jaxlib")
    absent = [name for name, version in (("jax", jax), ("jaxlib", jaxlib)) if version is None]
    if jax is None or jaxlib is None:
        return f"{absent[0]}-missing", f"{' and '.join(absent)} {'are' if len(absent) > 1 else 'is'} not installed"
    oldest = minimum_jaxlib(environment)
    if (read_version(jaxlib) or ()) > (read_version(jax) or ()):
        return "jaxlib-mismatch", f"jaxlib {jaxlib} is newer than jax {jax}, which JAX refuses"
    if oldest is not None and (read_version(jaxlib) or ()) < (read_version(oldest) or ()):
        return "jaxlib-mismatch", f"jax {jax} needs jaxlib {oldest} at least, and jaxlib {jaxlib} is installed"
    return "", ""


def incomplete(case: Case) -> Iterator[Finding]:
    """JAX or jaxlib is missing, or they do not fit."""
    code, what = find_break(case.environment)
    if not code:
        return
    yield Finding(ERROR, code, what, restore(case))


def locks(case: Case) -> Iterator[Finding]:
    """Wheels of different sets: one error for all that refuse, since one command mends them."""
    surplus = find_surplus(case)
    refusals = {
        f"{plugin.label} refuses to serve: {problem}": case.weigh(plugin.platform, FAILS)
        for plugin in case.plugins
        for problem in [lock_problem(plugin, case.world)]
        if problem and plugin.label not in surplus
    }
    if refusals and not case.world.broken:
        level = ERROR if ERROR in refusals.values() else WARNING
        yield Finding(level, "lock-mismatch", "; ".join(refusals), restore(case))


def restore(case: Case) -> str:
    """Return the command after which JAX, jaxlib and our plugins are of one release and one build.

    What is installed stays, in another version perhaps. Without a plugin of ours, it is what belongs on this machine.
    """
    surplus = find_surplus(case)
    plugins = [p for p in case.plugins if p.lock is not None and p.distribution and p.label not in surplus]
    if not plugins:
        return _complete(case)
    release = release_of(case)
    names = ("jax", "jaxlib", *(plugin.distribution for plugin in plugins))
    fits = {name: case.environment.version_of(name) == release for name in names}
    # What has the right version already is of another build, and stays unless it is installed again.
    again = fits["jaxlib"] and any(lock_problem(plugin, case.world) for plugin in plugins)
    forced = [f"{name}=={release}" for name in names[1:] if again and fits[name]]
    return case.install([] if all(fits.values()) else _requirements(case, names, release), again=forced)


def renew(case: Case) -> str:
    """Return the command that installs JAX, jaxlib and the plugins again, in the versions that are here."""
    names = ("jax", "jaxlib", *(plugin.distribution for plugin in case.plugins if plugin.distribution))
    versions = {name: case.environment.version_of(name) for name in names}
    return case.reinstall([f"{name}=={version}" for name, version in versions.items() if version is not None])


def _complete(case: Case) -> str:
    """Return the command that installs what belongs here, else JAX and jaxlib of the release that one of them has."""
    jax, jaxlib = case.environment.version_of("jax"), case.environment.version_of("jaxlib")
    release = jax or jaxlib
    if case.decision is not None and release in (None, _decided(case)):
        return case.advise()
    return case.install([f"{name}=={release}" if release else name for name in ("jax", "jaxlib")])


def release_of(case: Case) -> str | None:
    """Return the release of the set: that of JAX if there are wheels of ours for it, else the newest that is here."""
    jax = case.environment.version_of("jax")
    locks = [case.world.jaxlib, *(plugin.lock for plugin in case.plugins)]
    releases = {lock.release for lock in locks if lock is not None}
    if not releases or (jax is not None and jax in {*releases, _decided(case)}):
        return jax
    return max(releases, key=lambda release: read_version(release) or ())


def _decided(case: Case) -> str | None:
    """Return the release of JAX that was decided for."""
    requirements = case.decision.requirements if case.decision is not None else ()
    return next((text.partition("==")[2] for text in requirements if name_of(text) == "jax"), None)


def _requirements(case: Case, names: Sequence[str], release: str | None) -> list[str]:
    """Return the requirements for a release: those of the decision, with extras and bounds, for what it is about."""
    decision = case.decision if case.decision is not None and _decided(case) == release else None
    decided = {name_of(text): text for text in decision.requirements} if decision is not None else {}
    bounds = decision.constraints if decision is not None and decision.package in names else ()
    return [*(decided.get(name, f"{name}=={release}") for name in names), *bounds]


def minimum_jaxlib(environment: Environment) -> str | None:
    """Return the oldest jaxlib that the installed JAX takes, from its source."""
    path = environment.find("jax/version.py")
    try:
        text = path.read_text("utf-8") if path is not None else ""
    except (OSError, UnicodeError):
        return None
    found = re.search(r"""^_minimum_jaxlib_version\s*=\s*["']([^"']+)""", text, re.MULTILINE)
    return found.group(1) if found else None
