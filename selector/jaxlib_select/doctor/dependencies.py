# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the installed wheels need beside each other: as `pip check`, for JAX, jaxlib and the plugins alone."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from jaxlib_select.apply.installer import show
from jaxlib_select.doctor.case import Case
from jaxlib_select.doctor.report import ERROR, WARNING, Finding
from jaxlib_select.installed.environment import Environment
from jaxlib_select.names import normalize
from jaxlib_select.versions import in_range, read_version

# The part of a requirement (PEP 508) that is read: name, extras and bounds. What depends on a marker is passed over.
_REQUIREMENT = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^]]*\])?\s*\(?([^;@()]*)\)?\s*")
_IMPORTED = ("jax", "jaxlib")  # without what these need JAX cannot be imported


@dataclass(frozen=True)
class Unmet:
    """Something that is needed, and what is there of it.

    Attributes:
        name: The distribution, normalized.
        bounds: Its versions that will do, such as `>=2.1,>=2.0`; empty for any.
        needed_by: Who needs it.
        installed: The version that is there, empty if nothing says which; nothing if it is not there.
        lost: The version of which nothing but the metadata is there; nothing if there is none.
    """

    name: str
    bounds: str
    needed_by: str
    installed: str | None = None
    lost: str | None = None

    @property
    def state(self) -> str:
        """What is there of it."""
        without_files = f" {self.lost} without its files" if self.lost is not None else ""
        return f"{self.name}{f' {self.installed}' if self.installed else without_files}"


def find_unmet(environment: Environment, names: Collection[str]) -> list[Unmet]:
    """Return what some distributions need and do not have; whether they fit each other is another question.

    Args:
        environment: What is installed.
        names: The distributions, normalized.
    """
    bounds: dict[str, dict[str, str]] = {}
    for owner in names:
        for name, bound in _requirements(environment, owner):
            bounds.setdefault(name, {}).setdefault(bound, owner)
    needs = [
        _need(environment, name, ",".join(filter(None, asked)), next(iter(asked.values())))
        for name, asked in bounds.items()
        if name not in names
    ]
    return [need for need in needs if need.installed is None or not _fits(need.installed, need.bounds)]


def find_missing(environment: Environment) -> str:
    """Return what JAX cannot be imported without, in a sentence; empty if all of it is there."""
    missing = [need.name for need in find_unmet(environment, _IMPORTED) if need.installed is None]
    return f"{' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} not installed" if missing else ""


def unmet_requirements(case: Case) -> Iterator[Finding]:
    """What is not there, and what is there in a version that will not do: one command for each of both."""
    plugins = [plugin.distribution for plugin in case.plugins if plugin.distribution]
    unmet = find_unmet(case.environment, (*_IMPORTED, *plugins))
    missing = [need for need in unmet if need.installed is None]
    if missing:
        level = ERROR if any(need.needed_by in _IMPORTED for need in missing) else WARNING
        yield Finding(level, "requirement-missing", f"not installed: {_enumerate(missing)}", _install(case, missing))
    unfit = [need for need in unmet if need.installed is not None]
    if unfit:
        yield Finding(WARNING, "requirement-unfit", f"does not fit: {_enumerate(unfit)}", _install(case, unfit))


def _enumerate(needs: Sequence[Unmet]) -> str:
    """Return what is needed, and by whom."""
    return ", ".join(f"{need.state} ({need.needed_by} needs {need.name}{need.bounds})" for need in needs)


def _install(case: Case, needs: Sequence[Unmet]) -> str:
    """Return the command that brings them; an installer believes metadata whose package is lost."""
    lost = [need.name for need in needs if need.lost is not None]
    commands = case.installer.exchange([f"{need.name}{need.bounds}" for need in needs], lost)
    return " && ".join(map(show, commands))


def _requirements(environment: Environment, owner: str) -> Iterator[tuple[str, str]]:
    """Yield the names and bounds of what a distribution needs on every machine."""
    found = environment.distributions.get(owner)
    for text in found.requires if found is not None else ():
        read = _REQUIREMENT.fullmatch(text)
        if read is not None:
            yield normalize(read.group(1)), re.sub(r"\s+", "", read.group(2))


def _need(environment: Environment, name: str, bounds: str, needed_by: str) -> Unmet:
    """Return what is there of something that is needed."""
    package = f"{name.replace('-', '_')}/__init__.py"
    found = environment.distributions.get(name)
    elsewhere = found is not None and package not in found.record  # it has its modules under other names
    if elsewhere or environment.find(package) is not None:
        return Unmet(name, bounds, needed_by, found.version if found is not None else "")
    return Unmet(name, bounds, needed_by, lost=found.version if found is not None else None)


def _fits(version: str, bounds: str) -> bool:
    """Return whether a version keeps bounds; those that cannot be read are kept."""
    try:
        return not version or not bounds or in_range(read_version(version) or (), bounds)
    except ValueError:
        return True
