# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong in an environment: one small rule for each kind of problem."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Callable

from jaxlib_select.decision import Decision
from jaxlib_select.doctor.discovery import Plugin, namespace_folders
from jaxlib_select.doctor.environment import GROUP, Environment, normalize
from jaxlib_select.doctor.forecast import (
    SERVES,
    Prediction,
    World,
    count_by_platform,
    is_switched_off,
    lock_problem,
    switch_name,
)
from jaxlib_select.doctor.libraries import (
    NEEDED,
    OPENED,
    Loaded,
    enumerate_some,
    missing_libraries,
    unusable_without,
)
from jaxlib_select.doctor.report import ERROR, NOTE, WARNING, Finding
from jaxlib_select.install.commands import Installer, show
from jaxlib_select.versions import read_version


@dataclass(frozen=True)
class Case:
    """All that the rules look at.

    Attributes:
        environment: What is installed.
        plugins: What JAX will find.
        world: What else counts.
        prediction: What JAX will do.
        libraries: Name of a plugin → shared libraries that it would load.
        installer: Writes the commands that mend.
        decision: What should be installed on this machine; nothing if that could not be worked out.
        names: Import packages of our plugins → their distributions, installed or not.
    """

    environment: Environment
    plugins: tuple[Plugin, ...]
    world: World
    prediction: Prediction
    libraries: Mapping[str, tuple[Loaded, ...]]
    installer: Installer
    decision: Decision | None = None
    names: Mapping[str, str] = field(default_factory=dict)

    def advise(self) -> str:
        """Return the command that installs what belongs on this machine; empty if that is not known."""
        return "" if self.decision is None else show(install_decision(self.installer, self.decision))


def install_decision(installer: Installer, decision: Decision) -> tuple[str, ...]:
    """Return the command that carries out a decision; constraints are requirements of what comes along anyway."""
    return installer.install((*decision.requirements, *decision.constraints), index_url=decision.index_url)


def find_problems(case: Case) -> list[Finding]:
    """Apply every rule."""
    return [finding for rule in RULES for finding in rule(case)]


def incomplete(case: Case) -> Iterator[Finding]:
    """JAX or jaxlib is missing, or they do not fit."""
    jax, jaxlib = case.environment.version_of("jax"), case.environment.version_of("jaxlib")
    for name, version in (("jax", jax), ("jaxlib", jaxlib)):
        if version is None:
            release = f"=={jaxlib or jax}" if jaxlib or jax else ""
            yield Finding(
                ERROR, f"{name}-missing", f"{name} is not installed", show(case.installer.install([f"{name}{release}"]))
            )
    if jax is None or jaxlib is None:
        return
    oldest = minimum_jaxlib(case.environment)
    if (read_version(jaxlib) or ()) > (read_version(jax) or ()):
        what = f"jaxlib {jaxlib} is newer than jax {jax}, which JAX refuses"
    elif oldest is not None and (read_version(jaxlib) or ()) < (read_version(oldest) or ()):
        what = f"jax {jax} needs jaxlib {oldest} at least, and jaxlib {jaxlib} is installed"
    else:
        return
    yield Finding(ERROR, "jaxlib-mismatch", what, show(case.installer.install([f"jax=={jax}", f"jaxlib=={jax}"])))


def minimum_jaxlib(environment: Environment) -> str | None:
    """Return the oldest jaxlib that the installed JAX takes, from its source."""
    path = environment.find("jax/version.py")
    try:
        text = path.read_text("utf-8") if path is not None else ""
    except (OSError, UnicodeError):
        return None
    found = re.search(r"""^_minimum_jaxlib_version\s*=\s*["']([^"']+)""", text, re.MULTILINE)
    return found.group(1) if found else None


def torn_installation(case: Case) -> Iterator[Finding]:
    """The remains of an installation or removal that was cut off."""
    for name in case.environment.doubled:
        if name in _concerned(case):
            again = show(case.installer.reinstall([f"{name}=={case.environment.version_of(name)}"]))
            yield Finding(ERROR, "doubled-metadata", f"{name} is installed twice in one folder", again)
    for folder in case.environment.damaged:
        if re.match(r"(jax|libtpu)", folder.name):
            what = f"the metadata in {folder} has no name or version: an installation was cut off"
            yield Finding(ERROR, "damaged-metadata", what, f"remove that folder, then: {case.advise()}".rstrip(": "))
    for plugin in case.plugins:
        if plugin.module and plugin.location is None:
            what = f"{plugin.label} tells JAX to import {plugin.module}, which is not there; JAX logs that and goes on"
            yield Finding(ERROR, "plugin-gone", what, _reinstall(case, plugin))
    installed = set(case.environment.distributions)
    for package, distribution in case.names.items():
        place = case.environment.find(package)
        if place is not None and normalize(distribution) not in installed and any(place.glob("*.so")):
            what = f"{place} is there without {distribution}: JAX does not find it, and no installer removes it"
            yield Finding(
                WARNING, "plugin-left-behind", what, f"remove that folder, then: {case.advise()}".rstrip(": ")
            )


def damaged_plugins(case: Case) -> Iterator[Finding]:
    """A plugin without its library, or with one that cannot be read."""
    for plugin in case.plugins:
        for path, reason in plugin.damaged.items():
            yield Finding(ERROR, "library-damaged", f"{path} is damaged: {reason}", _reinstall(case, plugin))
        bare = plugin.location is not None and not plugin.libraries and not plugin.damaged and plugin.module
        if bare and plugin.platform not in (None, "tpu"):
            what = f"{plugin.label} has no PJRT library in {plugin.location}"
            yield Finding(ERROR, "library-missing", what, _reinstall(case, plugin))
        if plugin.refused:
            level = ERROR if plugin.platform is not None else WARNING
            yield Finding(
                level,
                "variable",
                f"PJRT_NAMES_AND_LIBRARY_PATHS: {plugin.refused}",
                _unset("PJRT_NAMES_AND_LIBRARY_PATHS"),
            )


def locks(case: Case) -> Iterator[Finding]:
    """Wheels of different sets."""
    for plugin in case.plugins:
        problem = lock_problem(plugin, case.world)
        if problem and plugin.lock is not None:
            pair = [f"{name}=={plugin.lock.release}" for name in ("jaxlib", plugin.distribution or plugin.module)]
            remedy = (
                f"{show(case.installer.reinstall(pair))}  (with the --find-links or --index-url that both came from)"
            )
            yield Finding(ERROR, "lock-mismatch", f"{plugin.label} refuses to serve: {problem}", remedy)


def doubled_backends(case: Case) -> Iterator[Finding]:
    """Several plugins for one platform, or kernels of several versions."""
    wanted = case.decision.package if case.decision is not None else ""
    for platform, rivals in count_by_platform(case.plugins, case.world).items():
        labels = sorted({rival.label for rival in rivals})
        if len(labels) > 1:
            keep = wanted if wanted in labels else labels[-1]
            others = [name for label in labels if label != keep for name in belongings(label, case.environment)]
            what = f"{' and '.join(labels)} are both for JAX's platform {platform!r}, and JAX can take only one"
            yield Finding(ERROR, "doubled-backend", what, show(case.installer.uninstall(others)))
    accelerators = sorted({p.label for p in case.plugins if p.platform not in (None, "cpu") and p.location is not None})
    platforms = {p.platform for p in case.plugins if p.platform not in (None, "cpu")}
    if len(platforms) > 1:
        yield Finding(
            NOTE, "several-backends", f"plugins for several accelerators are installed: {', '.join(accelerators)}"
        )


def stale_kernels(case: Case) -> Iterator[Finding]:
    """Kernels without their plugin, which JAX imports before others, or kernels of another version."""
    jaxlib = case.environment.version_of("jaxlib")
    for name, distribution in case.environment.distributions.items():
        stem = re.fullmatch(r"(jax-\w+)-plugin", name)
        if stem is None:
            continue
        if f"{stem.group(1)}-pjrt" not in case.environment.distributions:
            what = f"{name} is there without {stem.group(1)}-pjrt: JAX may take its kernels for another plugin"
            yield Finding(WARNING, "stale-kernels", what, show(case.installer.uninstall([name])))
        elif jaxlib is not None and distribution.version != jaxlib and "rocm" not in name:
            what = f"{name} {distribution.version} does not fit jaxlib {jaxlib}, so JAX does not use it"
            yield Finding(ERROR, "kernel-mismatch", what, show(case.installer.install([f"{name}=={jaxlib}"])))


def switches(case: Case) -> Iterator[Finding]:
    """Variables that leave a plugin out, or ask for what is not there."""
    for plugin in case.plugins:
        if plugin.lock is not None and is_switched_off(plugin.distribution, case.world.variables):
            name = switch_name(plugin.distribution)
            yield Finding(WARNING, "switched-off", f"{name} leaves {plugin.distribution} out", _unset(name))
    asked = case.world.variables.get("JAX_PLATFORMS", "")
    serving = [entry.platform for entry in case.prediction.forecasts if entry.outcome == SERVES]
    if asked and case.prediction.default is None:
        yield Finding(
            ERROR, "platforms", case.prediction.error, switch_remedy("JAX_PLATFORMS", ",".join(reversed(serving)))
        )
    elif asked and case.prediction.default == "cpu" and len(serving) > 1:
        what = f"JAX_PLATFORMS is {asked!r}, so JAX leaves {', '.join(name for name in serving if name != 'cpu')} out"
        yield Finding(WARNING, "platforms", what, _unset("JAX_PLATFORMS"))


def lost_libraries(case: Case) -> Iterator[Finding]:
    """Shared libraries that are not there, or come from another place than the wheels."""
    for plugin in case.plugins:
        absent = plugin.platform in case.world.no_hardware
        entries = case.libraries.get(plugin.label, ())
        needed = missing_libraries(entries, NEEDED)
        opened = missing_libraries(entries, OPENED)
        if needed and absent:
            what = f"{plugin.label} cannot be opened without {enumerate_some(needed)}, which are nowhere"
            yield Finding(NOTE, "library-not-found", what)
        elif opened and not absent and not unusable_without(entries):
            what = f"{plugin.label} may not run without {enumerate_some(opened)}, which are nowhere"
            yield Finding(WARNING, "library-not-found", what, case.advise())
        for entry in entries:
            if entry.shadows is not None:
                what = f"LD_LIBRARY_PATH leads to {entry.path} instead of {entry.shadows}"
                yield Finding(WARNING, "library-shadowed", what, _unset("LD_LIBRARY_PATH"))


def hidden_namespace(case: Case) -> Iterator[Finding]:
    """A regular package `jax_plugins`, behind which the others are invisible."""
    folders = [path / GROUP for path in case.environment.paths if (path / GROUP).is_dir()]
    seen = namespace_folders(case.environment.paths)
    if len(seen) < len(folders):
        hidden = [str(folder) for folder in folders if folder not in seen]
        what = f"{seen[0] / '__init__.py'} hides the plugins in {', '.join(hidden)}"
        yield Finding(ERROR, "namespace-hidden", what, f"rm {show([str(seen[0] / '__init__.py')])}")


def failing_platforms(case: Case) -> Iterator[Finding]:
    """Platforms whose first use raises an error, for a reason that no other rule names."""
    for entry in case.prediction.forecasts:
        if entry.outcome == "fails" and entry.reason in case.world.unfit.values():
            yield Finding(ERROR, "unfit-backend", f"{entry.provider} does not run here: {entry.reason}", case.advise())


RULES: Sequence[Callable[[Case], Iterator[Finding]]] = (
    incomplete,
    torn_installation,
    hidden_namespace,
    damaged_plugins,
    locks,
    doubled_backends,
    stale_kernels,
    switches,
    failing_platforms,
    lost_libraries,
)


def belongings(distribution: str, environment: Environment) -> tuple[str, ...]:
    """Return a plugin's distribution and the one of its kernels, which upstream has apart."""
    stem, separator, _ = distribution.rpartition("-pjrt")
    kernels = f"{stem}-plugin"
    return (distribution, kernels) if separator and kernels in environment.distributions else (distribution,)


def _concerned(case: Case) -> dict[str, None]:
    """Return the names of distributions that this is about."""
    return dict.fromkeys(["jax", "jaxlib", *(plugin.distribution for plugin in case.plugins)])


def _reinstall(case: Case, plugin: Plugin) -> str:
    if not plugin.distribution:
        return f"remove {plugin.location or plugin.module}"
    return show(case.installer.reinstall([f"{plugin.distribution}=={plugin.version}"]))


def _unset(variable: str) -> str:
    return f"set {variable}=" if os.name == "nt" else f"unset {variable}"


def switch_remedy(variable: str, value: str, remark: str = "") -> str:
    """Return the command that sets a variable, with a remark behind it."""
    command = f"set {variable}={value}" if os.name == "nt" else f"export {variable}={value}"
    return f"{command}  ({remark})" if remark else command
