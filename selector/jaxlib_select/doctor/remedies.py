# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The commands that fix what was found, as users would type them, with notes, and all that they depend on."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jaxlib_select.apply.installer import Installer, accelerator_families, make_plan, name_of, release_of, show
from jaxlib_select.choose.decision import Decision
from jaxlib_select.doctor.predict import Conditions, Prediction, is_candidate
from jaxlib_select.doctor.report import ERROR, NO_REMEDY, WARNING, Remedy
from jaxlib_select.facts import OURS, Facts, load_facts
from jaxlib_select.installed.environment import Environment, judge_python
from jaxlib_select.installed.plugins import Lock, Plugin, set_version
from jaxlib_select.names import belongings
from jaxlib_select.versions import read_version

# Errors of our plugins that say that wheels are not of one set.
LOCK_ERRORS = ("LockMissingError", "VersionMismatchError", "LockMismatchError")

_SOURCE_NOTE = "add --index-url URL or --find-links DIR for our wheels"
_NAME = r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?"  # of a distribution (PEP 508)
_REMOVAL = re.compile(f"(?:uv )?pip uninstall ({_NAME}(?: {_NAME})*)")  # remedies of our plugins that remove others


def names_to_remove(remedy: str) -> list[str]:
    """Return the distributions that a plugin's remedy removes; none if it does something else, or more.

    Wheels of before remedies had notes wrote a remark behind the names.

    >>> names_to_remove("uv pip uninstall jax-a jaxlib-b"), names_to_remove("pip uninstall jax-a  # or keep it")
    (['jax-a', 'jaxlib-b'], [])
    """
    found = _REMOVAL.fullmatch(remedy)
    return found[1].split() if found is not None else []


@dataclass(frozen=True)
class Examination:
    """All that the rules about problems look at.

    Attributes:
        environment: What is installed.
        plugins: What JAX will find.
        conditions: What else counts.
        prediction: What JAX will do.
        installer: Writes the commands that fix.
        facts: What is known about our packages, installed or not.
        jaxlib: Release lock of the installed jaxlib; None if it has none.
        decision: What should be installed on this machine; None if that could not be worked out.
        provider: Whose wheels commands are to install.
    """

    environment: Environment
    plugins: tuple[Plugin, ...]
    conditions: Conditions
    prediction: Prediction
    installer: Installer
    facts: Facts
    jaxlib: Lock | None = None
    decision: Decision | None = None
    provider: str = OURS

    def level(self, platform: str | None, *outcomes: str) -> str:
        """Return `error` if a platform has one of these outcomes, else `warning`: JAX then ignores the problem."""
        found = self.prediction.find(platform)
        return ERROR if found is not None and found.outcome in outcomes else WARNING

    def rivals(self) -> dict[str, list[str]]:
        """Return the plugins for each platform that has several, by their labels."""
        found: dict[str, set[str]] = {}
        for plugin in self.plugins:
            if is_candidate(plugin):
                found.setdefault(plugin.platform or "", set()).add(plugin.label)
        return {platform: sorted(labels) for platform, labels in found.items() if len(labels) > 1}

    def keep(self, labels: Sequence[str]) -> str:
        """Return which of several plugins for one platform is to stay."""
        wanted = self.decision.package if self.decision is not None else ""
        return wanted if wanted in labels else labels[-1]

    def surplus(self) -> set[str]:
        """Return the labels of the plugins that are to be removed, since another one is for the same platform."""
        return {label for labels in self.rivals().values() for label in labels if label != self.keep(labels)}

    def advise(self) -> Remedy:
        """Return what `install` would do: put what belongs on this machine in the place of what is there.

        Empty if that is not known.
        """
        if self.decision is None:
            return NO_REMEDY
        if (old := judge_python(self.environment, load_facts(release_of(self.decision)))) is not None:
            return Remedy(old.remedy, f"{old.what}; {old.note}")
        families = accelerator_families(self.facts)
        steps = make_plan([self.decision], self.environment, self.plugins, self.installer, families=families)
        return Remedy(" && ".join(map(show, steps)), _note_on(self.installer, self.provider))

    def install(self, requirements: Sequence[str], *, again: Sequence[str] = ()) -> Remedy:
        """Return what installs requirements, before that those that only seem to be there."""
        first = [self.installer.reinstall(again)] if again else []
        then = [self.installer.install(requirements)] if requirements else []
        return Remedy(" && ".join(map(show, [*first, *then])), _note_on(self.installer, self.provider))

    def reinstall(self, name: str, version: str | None) -> Remedy:
        """Return what installs a distribution again, and nothing else."""
        return self.install([], again=[f"{name}=={version}"])

    def reinstall_plugin(self, plugin: Plugin) -> Remedy:
        """Return what brings a plugin's files back."""
        if not plugin.distribution:
            return Remedy(f"remove {plugin.location or plugin.module}")
        return self.reinstall(plugin.distribution, plugin.version)

    def reinstall_parts(self, decision: Decision, parts: Sequence[str]) -> Remedy:
        """Return what brings back the vendor's libraries that cannot be loaded, else these parts of a plugin."""
        lost = {entry.name for plugin in self.plugins for entry in plugin.answer.vendor.libraries if entry.path is None}
        installed = self.environment.distributions
        names = [name for name in parts if name in installed and not lost]
        names += [name for name, it in installed.items() if any(file.rpartition("/")[2] in lost for file in it.record)]
        again = [f"{name}=={installed[name].version}" for name in names]
        return Remedy(" && ".join(map(show, self.installer.exchange([*decision.requirements, *again], names))))

    def uninstall(self, names: Sequence[str]) -> str:
        """Return the command that removes distributions."""
        return show(self.installer.uninstall(names))

    def removal(self, remedy: str) -> str:
        """Return a plugin's remedy that removes others as a command of this installer; empty if it is another one."""
        names = names_to_remove(remedy)
        return self.uninstall(names) if names else ""

    def restore(self) -> Remedy:
        """Return the command after which JAX, jaxlib and our plugins are of one release and one build.

        What is installed stays, but its version may change. Without one of our plugins, it installs what belongs on
        this machine. Empty if nothing needs to be installed.
        """
        surplus = self.surplus()
        plugins = [p for p in self.plugins if p.ours and p.distribution and p.label not in surplus]
        if not plugins:
            return self._complete()
        release = self.release()
        own = (name for plugin in plugins for name in belongings(plugin.distribution))
        names = ("jax", "jaxlib", *(name for name in own if name in self.environment.distributions))
        wanted_versions = {name: self.version_for(name, release) for name in names}
        fits = {name: self.environment.version_of(name) == version for name, version in wanted_versions.items()}
        # What has the right version already is of another build, and stays unless it is installed again.
        again = fits["jaxlib"] and any(
            plugin.answer.find("LockMissingError", "LockMismatchError") for plugin in plugins
        )
        forced = [f"{name}=={wanted_versions[name]}" for name in names[1:] if again and fits[name]]
        wanted = [] if all(fits.values()) else self._requirements(names, release)
        return self.install(wanted, again=forced) if wanted or forced else NO_REMEDY

    def renew(self) -> Remedy:
        """Return what installs JAX, jaxlib and the plugins again, in the versions that are here."""
        names = ("jax", "jaxlib", *(plugin.distribution for plugin in self.plugins if plugin.distribution))
        versions = {name: self.environment.version_of(name) for name in names}
        return self.install([], again=[f"{name}=={version}" for name, version in versions.items() if version])

    def release(self) -> str | None:
        """Return the release of the set: that of JAX if we have wheels for it, else the newest here.

        If that one lacks a package that is installed, it is the release of the package.
        """
        found = self._newest()
        absent = {backend.distribution for backend in self.facts.backends if backend.absent and not backend.tags}
        lacking = [plugin.lock.release for plugin in self.plugins if plugin.lock and plugin.distribution in absent]
        return lacking[0] if lacking and found == self.facts.release else found

    def _newest(self) -> str | None:
        """Return the release of JAX if we have wheels for it, else the newest installed."""
        jax = self.environment.version_of("jax")
        releases = {lock.release for lock in (self.jaxlib, *(plugin.lock for plugin in self.plugins)) if lock}
        if not releases or (jax is not None and jax in {*releases, self._decided()}):
            return jax
        return max(releases, key=lambda release: read_version(release) or ())

    def version_for(self, name: str, release: str | None) -> str | None:
        """Return the version of JAX, or of one of our wheels, that belongs to a release.

        Our wheels are of one set: the newest installed set of that release, else the one in the facts.
        """
        if name == "jax" or release is None:
            return release
        if here := set_version(release, self.jaxlib, *(plugin.lock for plugin in self.plugins)):
            return here
        backends = self.facts.of(self.provider).backends
        known = [backend.version for backend in backends if backend.version.partition("+")[0] == release]
        return (known or [release])[-1]

    def _complete(self) -> Remedy:
        """Return what installs what belongs here, else JAX and jaxlib of the release that one of them has."""
        release = self.environment.version_of("jax") or self.environment.version_of("jaxlib")
        release = release.partition("+")[0] if release else None
        if self.decision is not None and release in (None, self._decided()):
            return self.advise()
        return self.install([f"{name}=={release}" if release else name for name in ("jax", "jaxlib")])

    def _decided(self) -> str | None:
        """Return the release of JAX that was decided for."""
        return release_of(self.decision) if self.decision is not None else None

    def _requirements(self, names: Sequence[str], release: str | None) -> list[str]:
        """Return the requirements for a release: with extras and bounds those that the decision is about."""
        decision = self.decision if self.decision is not None and self._decided() == release else None
        decided = {name_of(text): text for text in decision.requirements} if decision is not None else {}
        bounds = decision.constraints if decision is not None and decision.package in names else ()
        return [*(decided.get(name, f"{name}=={self.version_for(name, release)}") for name in names), *bounds]


def show_decision(installer: Installer, decision: Decision) -> Remedy:
    """Return the command that carries out a decision; constraints are requirements of what comes along anyway."""
    requirements = (*decision.requirements, *decision.constraints)
    command = show(installer.only_from(decision.index_url).install(requirements))
    return Remedy(command, _note_on(installer, decision.provider))


def _note_on(installer: Installer, provider: str) -> str:
    """Return what to do before a command, and what to add to one about our wheels if nothing says where they are."""
    add = _SOURCE_NOTE if provider == OURS and not installer.sources else ""
    return "; ".join(filter(None, (installer.note, add)))


def unset(variable: str) -> str:
    """Return the command that removes a variable."""
    return f"set {variable}=" if os.name == "nt" else f"unset {variable}"


def set_variable(variable: str, value: str) -> str:
    """Return the command that sets a variable."""
    return f"set {variable}={value}" if os.name == "nt" else f"export {variable}={value}"


def remove_folder(folder: Path) -> str:
    """Return the command that removes a folder."""
    return ("rmdir /s /q " if os.name == "nt" else "rm -r ") + show([str(folder)])
