# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What an interrupted installation or removal leaves behind, and files that are missing or damaged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from jaxlib_select.doctor.case import Case, remove_folder, unset
from jaxlib_select.doctor.forecast import FAILS, SERVES
from jaxlib_select.doctor.report import ERROR, WARNING, Finding
from jaxlib_select.doctor.wheel_set import release_of
from jaxlib_select.installed.discovery import EXTENSION, Plugin
from jaxlib_select.names import normalize
from jaxlib_select.sentences import enumerate_some

# What extension modules are named after that only one version of CPython can import (PEP 3149).
_KERNEL = re.compile(r"\.cpython-(3)(\d+)-")
_WITHOUT_KERNELS = "JAX runs, but solvers, sparse matrices, Mosaic and host callbacks fail on the GPU"
_CODE = (".py", ".so")
# A folder of metadata: name and version (PEP 427).
_INFO = re.compile(r"([A-Za-z0-9._]+)-([0-9][A-Za-z0-9.!+_]*)\.dist-info")


def torn_metadata(case: Case) -> Iterator[Finding]:
    """Metadata that an interrupted installation or removal left behind."""
    for name in case.environment.doubled:
        if name in _concerned(case):
            yield Finding(WARNING, "doubled-metadata", f"{name} is installed twice in one folder", _once(case, name))
    for folder in case.environment.damaged:
        if re.match(r"(jax|libtpu)", folder.name):
            what = f"the metadata in {folder} has no name or version: an installation was interrupted"
            name, version = _named(folder)
            lost = name and name not in case.environment.distributions
            steps = [remove_folder(folder), *([case.reinstall([f"{name}=={version}"])] if lost else [])]
            yield Finding(WARNING, "damaged-metadata", what, " && ".join(steps))


def torn_plugins(case: Case) -> Iterator[Finding]:
    """One half of a plugin: its metadata, or its package. JAX goes on without it in either case."""
    for plugin in case.plugins:
        if plugin.module and plugin.location is None:
            what = f"{plugin.label} tells JAX to import {plugin.module}, which is not there; JAX logs that and goes on"
            yield Finding(WARNING, "plugin-gone", what, _reinstall(case, plugin))
    known = {*case.environment.distributions, *(_named(folder)[0] for folder in case.environment.damaged)}
    for backend in case.facts.backends:
        place = case.environment.find(backend.package) if backend.package else None
        if place is not None and normalize(backend.distribution) not in known and any(place.glob("*.so")):
            what = f"{place} is there without {backend.distribution}: JAX does not find it, and no installer removes it"
            wanted = case.decision is not None and case.decision.package == backend.distribution
            remedy = case.advise() if wanted else remove_folder(place)  # an installer writes over what is there
            yield Finding(WARNING, "plugin-left-behind", what, remedy)


def damaged_plugins(case: Case) -> Iterator[Finding]:
    """A plugin without its library or extension module, or with one that cannot be read."""
    for plugin in case.plugins:
        level = case.weigh(plugin.platform, FAILS)
        for path, reason in plugin.damaged.items():
            yield Finding(level, "library-damaged", f"{path} cannot be used: it is {reason}", _reinstall(case, plugin))
        if plugin.lacks_extension and not plugin.damaged:
            what = f"{plugin.label} has no extension module {EXTENSION}, without which it cannot open its library"
            yield Finding(level, "extension-missing", what, _reinstall(case, plugin))
        bare = plugin.location is not None and not plugin.libraries and not plugin.damaged and plugin.module
        if bare and plugin.platform not in (None, "tpu"):
            what = f"{plugin.label} has no PJRT library in {plugin.location}"
            yield Finding(level, "library-missing", what, _reinstall(case, plugin))
        if plugin.refused:
            yield Finding(
                ERROR if plugin.platform is not None else WARNING,
                "variable",
                f"PJRT_NAMES_AND_LIBRARY_PATHS: {plugin.refused}",
                unset("PJRT_NAMES_AND_LIBRARY_PATHS"),
            )


def missing_kernels(case: Case) -> Iterator[Finding]:
    """One of our plugins without GPU kernels for this Python: they are lost, or were never in the wheel."""
    major, minor = case.environment.version[:2]
    for plugin in case.plugins:
        if not _lacks_kernels(case, plugin):
            continue
        what = f"{plugin.label} has no GPU kernels for Python {major}.{minor}: {_WITHOUT_KERNELS}"
        served = {found for file in _recorded(case, plugin.distribution) for found in _KERNEL.findall(file)}
        if not served or (str(major), str(minor)) in served:
            yield Finding(case.weigh(plugin.platform, SERVES), "kernels-missing", what, _reinstall(case, plugin))
        else:
            pythons = ", ".join(".".join(found) for found in sorted(served))
            yield Finding(WARNING, "kernels-missing", what, f"use a Python that it has them for: {pythons}")


def lost_files(case: Case) -> Iterator[Finding]:
    """Code that was installed and is gone, where no other rule says so."""
    here = tuple(map(str, case.environment.version[:2]))
    named = {plugin.distribution for plugin in case.plugins if _is_named(case, plugin)}
    for name in _concerned(case):
        found = case.environment.distributions.get(name)
        if found is None or name in named:
            continue
        code = [file for file in found.record if file.endswith(_CODE) and _KERNEL.findall(file) in ([], [here])]
        gone = [file for file in code if not (found.folder / file).exists()]
        if gone:
            what = f"{name} {found.version} is incomplete, it lacks {enumerate_some(gone)}"
            idle = any(
                plugin.distribution == name and plugin.platform in case.world.no_hardware for plugin in case.plugins
            )
            level = WARNING if idle else ERROR
            yield Finding(level, "files-missing", what, case.reinstall([f"{name}=={found.version}"]))


def _is_named(case: Case, plugin: Plugin) -> bool:
    """Return whether another rule says that a plugin must be installed again."""
    bare = not plugin.libraries and plugin.platform != "tpu"
    return plugin.location is None or bare or plugin.lacks_extension or _lacks_kernels(case, plugin)


def _lacks_kernels(case: Case, plugin: Plugin) -> bool:
    """Return whether one of our plugins has GPU kernels, but none for this Python."""
    if plugin.lock is None or not plugin.kernels:
        return False
    folder = case.environment.find(plugin.kernels)
    names = [entry.name for entry in folder.iterdir()] if folder is not None and folder.is_dir() else []
    here = tuple(map(str, case.environment.version[:2]))
    return not any(here in _KERNEL.findall(name) for name in names)


def _recorded(case: Case, name: str) -> tuple[str, ...]:
    found = case.environment.distributions.get(name)
    return found.record if found is not None else ()


def _once(case: Case, name: str) -> str:
    """Return the command after which a distribution is there once: in the version that fits the others, if any must."""
    ours = {"jax", "jaxlib", *(plugin.distribution for plugin in case.plugins if plugin.lock is not None)}
    version = (release_of(case) if name in ours else None) or case.environment.version_of(name)
    return case.reinstall([f"{name}=={version}"])


def _named(folder: Path) -> tuple[str, str]:
    """Return the distribution and version that a folder of metadata is named after; nothing for another folder."""
    found = _INFO.fullmatch(folder.name)
    return (normalize(found.group(1)), found.group(2)) if found is not None else ("", "")


def _concerned(case: Case) -> dict[str, None]:
    """Return the names of distributions that this is about."""
    return dict.fromkeys(["jax", "jaxlib", *(plugin.distribution for plugin in case.plugins)])


def _reinstall(case: Case, plugin: Plugin) -> str:
    if not plugin.distribution:
        return f"remove {plugin.location or plugin.module}"
    return case.reinstall([f"{plugin.distribution}=={plugin.version}"])
