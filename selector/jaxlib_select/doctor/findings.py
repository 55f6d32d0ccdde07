# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong in an environment: one small rule for each kind of problem."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from jaxlib_select.apply.installer import show
from jaxlib_select.doctor.case import Case, switch_remedy, unset
from jaxlib_select.doctor.damage import damaged_plugins, lost_files, missing_kernels, torn_metadata, torn_plugins
from jaxlib_select.doctor.dependencies import unmet_requirements
from jaxlib_select.doctor.forecast import (
    FAILS,
    SERVES,
    Forecast,
    is_switched_off,
    switch_name,
)
from jaxlib_select.doctor.libraries import NEEDED, OPENED, Loaded, missing_libraries, unusable_without
from jaxlib_select.doctor.report import ERROR, NOTE, WARNING, Finding
from jaxlib_select.doctor.rivals import doubled_backends
from jaxlib_select.doctor.wheel_set import incomplete, locks
from jaxlib_select.installed.discovery import namespace_folders
from jaxlib_select.installed.environment import GROUP
from jaxlib_select.sentences import enumerate_some


def find_problems(case: Case) -> list[Finding]:
    """Apply every rule."""
    return [finding for rule in RULES for finding in rule(case)]


def stale_kernels(case: Case) -> Iterator[Finding]:
    """Kernels without their plugin, which JAX imports before others, or kernels of another version."""
    jaxlib = case.environment.version_of("jaxlib")
    for name, distribution in case.environment.distributions.items():
        stem = re.fullmatch(r"(jax-\w+)-plugin", name)
        if stem is None:
            continue
        if f"{stem.group(1)}-pjrt" not in case.environment.distributions:
            what = f"{name} is there without {stem.group(1)}-pjrt: JAX may take its kernels for another plugin"
            yield Finding(WARNING, "stale-kernels", what, case.uninstall([name]))
        elif jaxlib is not None and distribution.version != jaxlib and "rocm" not in name:
            what = f"{name} {distribution.version} does not fit jaxlib {jaxlib}, so JAX does not use it"
            owner = next((plugin for plugin in case.plugins if plugin.label == f"{stem.group(1)}-pjrt"), None)
            level = case.weigh(owner.platform if owner is not None else None, SERVES)
            yield Finding(level, "kernel-mismatch", what, show(case.installer.install([f"{name}=={jaxlib}"])))


def switches(case: Case) -> Iterator[Finding]:
    """Variables that leave a plugin out, or ask for what is not there."""
    for plugin in case.plugins:
        if plugin.lock is not None and is_switched_off(plugin.distribution, case.world.variables):
            name = switch_name(plugin.distribution)
            yield Finding(WARNING, "switched-off", f"{name} leaves {plugin.distribution} out", unset(name))
    asked = case.world.variables.get("JAX_PLATFORMS", "")
    serving = [entry.platform for entry in case.prediction.forecasts if entry.outcome == SERVES]
    if asked and case.prediction.default is None and case.prediction.forecasts:
        yield Finding(
            ERROR, "platforms", case.prediction.error, switch_remedy("JAX_PLATFORMS", ",".join(reversed(serving)))
        )
    elif asked and case.prediction.default == "cpu" and len(serving) > 1:
        what = f"JAX_PLATFORMS is {asked!r}, so JAX leaves {', '.join(name for name in serving if name != 'cpu')} out"
        yield Finding(WARNING, "platforms", what, unset("JAX_PLATFORMS"))


def lost_libraries(case: Case) -> Iterator[Finding]:
    """Shared libraries that are not there, or come from another place than the wheels."""
    for plugin in case.plugins:
        absent = plugin.platform in case.world.no_hardware
        entries = case.libraries.get(plugin.label, ())
        needed = missing_libraries(entries, NEEDED)
        opened = missing_libraries(entries, OPENED)
        if needed and absent:
            what = f"{plugin.label} cannot be opened without {enumerate_some(needed)}, which cannot be loaded here"
            yield Finding(NOTE, "library-not-found", what)
        elif opened and not absent and not unusable_without(entries):
            what = f"{plugin.label} may not run without {enumerate_some(opened)}, which cannot be loaded here"
            yield Finding(WARNING, "library-not-found", what, case.advise())


def poisoned_search_path(case: Case) -> Iterator[Finding]:
    """Files on LD_LIBRARY_PATH that come before the wheels' libraries, or that are no libraries for this machine."""
    for entry in dict.fromkeys(entry for plugin in case.plugins for entry in case.libraries.get(plugin.label, ())):
        if any(_is_to_blame(entry, forecast) for forecast in case.prediction.forecasts):
            continue  # the rule about the platform has said so
        if entry.origin == "LD_LIBRARY_PATH" and entry.problem:
            what = f"LD_LIBRARY_PATH leads to {entry.path}, which is {entry.problem}: {entry.name} cannot be loaded"
            yield Finding(WARNING, "library-foreign", what, unset("LD_LIBRARY_PATH"))
        elif entry.shadows is not None:
            what = f"LD_LIBRARY_PATH leads to {entry.path} instead of {entry.shadows}"
            yield Finding(WARNING, "library-shadowed", what, unset("LD_LIBRARY_PATH"))
        for passed in entry.passed:
            yield Finding(NOTE, "library-foreign", f"LD_LIBRARY_PATH: {passed}, which is passed over")


def hidden_namespace(case: Case) -> Iterator[Finding]:
    """A regular package `jax_plugins`, behind which the others are invisible."""
    folders = [path / GROUP for path in case.environment.paths if (path / GROUP).is_dir()]
    seen = namespace_folders(case.environment.paths)
    if len(seen) < len(folders):
        hidden = [str(folder) for folder in folders if folder not in seen]
        what = f"{seen[0] / '__init__.py'} hides the plugins in {', '.join(hidden)}"
        yield Finding(WARNING, "namespace-hidden", what, f"rm {show([str(seen[0] / '__init__.py')])}")


def failing_platforms(case: Case) -> Iterator[Finding]:
    """Platforms whose first use raises an error, for a reason that no other rule names."""
    for entry in case.prediction.forecasts:
        if entry.outcome == FAILS and entry.reason in case.world.unfit.values():
            spoiled = any(_is_to_blame(library, entry) for library in case.libraries.get(entry.provider, ()))
            remedy = unset("LD_LIBRARY_PATH") if spoiled else case.advise()
            yield Finding(ERROR, "unfit-backend", f"{entry.provider} does not run here: {entry.reason}", remedy)


RULES: Sequence[Callable[[Case], Iterator[Finding]]] = (
    incomplete,
    unmet_requirements,
    torn_metadata,
    torn_plugins,
    hidden_namespace,
    damaged_plugins,
    locks,
    doubled_backends,
    stale_kernels,
    switches,
    failing_platforms,
    lost_libraries,
    poisoned_search_path,
    missing_kernels,
    lost_files,
)


def _is_to_blame(library: Loaded, forecast: Forecast) -> bool:
    """Return whether a platform fails because of a file on LD_LIBRARY_PATH that is no library."""
    spoiled = library.origin == "LD_LIBRARY_PATH" and bool(library.problem)
    return spoiled and forecast.outcome == FAILS and str(library.path) in forecast.reason
