# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A lock file with dependency groups for each backend (PEP 751), put together from one resolution for each group.

Packages are kept as they came, as tables of the resolution: what is not understood here is not lost.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote, urlsplit

from jaxlib_select import tables
from jaxlib_select.choose.rules import describe_platform
from jaxlib_select.errors import UsageError
from jaxlib_select.facts import OURS
from jaxlib_select.installed.environment import Environment
from jaxlib_select.machine.host import Host, arch
from jaxlib_select.machine.model import Machine
from jaxlib_select.names import normalize
from jaxlib_select.tables import column

TOOL = "jaxlib-select"
LOCK_VERSION = "1.0"
SCHEMA = 1  # of the evidence

Table = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for in one dependency group: the backend, and its requirements with their constraints."""

    backend: str
    requirements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a lock file was made from, and what it holds for.

    Attributes:
        schema: Of this table.
        package: The package it is about, such as `jax`, with `==RELEASE` if one was asked for.
        asked: The backend that was asked for, such as `auto`.
        backend: The one that was chosen.
        requirements: What was resolved for it, constraints included.
        platform: As `Machine.platform` spells it.
        python: Minor version of Python.
        machine: The machine, as JSON.
        reasons: Backend → why it was chosen or not.
        arguments: With which other arguments the file was written, such as `--find-links DIR`.
        groups: Dependency group → what was asked for in it.
        digest: Hash that shows whether somebody changed the file by hand.
        provider: Whose wheels are locked.
    """

    schema: int
    package: str
    asked: str
    backend: str
    requirements: tuple[str, ...]
    platform: str
    python: str
    machine: str = ""
    reasons: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    groups: Mapping[str, Wanted] = column(omit_default=True, default_factory=dict)
    digest: str = column(omit_default=True, default="")
    provider: str = OURS


@dataclass(frozen=True, slots=True)
class Group:
    """What one backend needs on some machines.

    Attributes:
        backend: Name of the backend, which has several groups if its bounds depend on the GPU.
        requirements: What was asked for, constraints included.
        packages: Everything that came out, as tables of `packages` (PEP 751).
    """

    name: str
    backend: str
    requirements: tuple[str, ...]
    packages: tuple[Table, ...]


def build_document(groups: Sequence[Group], default: str, evidence: Evidence, environment: LockEnvironment) -> Table:
    """Return the lock file as a document; the evidence goes into this tool's table, with a digest over everything."""
    asked = {group.name: Wanted(group.backend, group.requirements) for group in groups}
    document: Table = {
        "lock-version": LOCK_VERSION,
        "environments": [environment.marker],
        "requires-python": f"=={environment.python}.*",
        "created-by": TOOL,
        "dependency-groups": [group.name for group in groups],
        "default-groups": [default],
        "packages": merge_packages(groups),
        "tool": {TOOL: tables.write(replace(evidence, groups=asked))},
    }
    document["tool"][TOOL]["digest"] = digest(document)
    return document


def merge_packages(groups: Sequence[Group]) -> list[Table]:
    """Return every package once, with a marker that says for which groups; those of all groups have none."""
    users: dict[str, list[str]] = {}
    tables: dict[str, Table] = {}
    for group in groups:
        for package in group.packages:
            table = _cleaned(package)
            identity = json.dumps(table, sort_keys=True, default=str)
            tables[identity] = table
            users.setdefault(identity, []).append(group.name)
    everywhere = len(groups)
    ordered = sorted(tables, key=lambda key: (normalize(tables[key]["name"]), tables[key].get("version", ""), key))
    return [tables[key] if len(users[key]) == everywhere else _marked(tables[key], users[key]) for key in ordered]


def digest(document: Mapping[str, Any]) -> str:
    """Return a hash over all of a lock file but the hash itself: it shows that nobody changed it by hand."""
    copy = json.loads(json.dumps(document, default=str))
    copy.get("tool", {}).get(TOOL, {}).pop("digest", None)
    text = json.dumps(copy, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def packages_of(document: Mapping[str, Any], group: str) -> list[Table]:
    """Return the packages of one group of a lock file that `build_document` made."""
    groups = re.compile(r"'([^']+)' in dependency_groups")
    named = [(package, groups.findall(package.get("marker", ""))) for package in document["packages"]]
    return [package for package, names in named if not names or group in names]


def _marked(package: Table, groups: Sequence[str]) -> Table:
    condition = " or ".join(f"'{group}' in dependency_groups" for group in groups)
    before = package.get("marker", "")
    marker = f"({before}) and ({condition})" if before else condition
    head: Table = {key: package[key] for key in ("name", "version") if key in package}
    rest = {key: value for key, value in package.items() if key not in {"name", "version", "marker"}}
    return {**head, "marker": marker, **rest}


def _cleaned(package: Table) -> Table:
    """Return a package without wheels that another one replaces, and references that merging makes ambiguous."""
    cleaned = {key: value for key, value in package.items() if key != "dependencies"}
    if "wheels" in cleaned:
        cleaned["wheels"] = drop_superseded(cleaned["wheels"])
        if any(build_tag(filename(wheel)) > (0, "") for wheel in cleaned["wheels"]):
            cleaned.pop("sdist", None)
    return cleaned


def drop_superseded(wheels: Sequence[Table]) -> list[Table]:
    """Leave out wheels that differ from another one by a lower build tag only, which installers must not take."""
    best: dict[str, Table] = {}
    for wheel in wheels:
        key = _tags(filename(wheel))
        if key not in best or build_tag(filename(wheel)) > build_tag(filename(best[key])):
            best[key] = wheel
    return [wheel for wheel in wheels if best[_tags(filename(wheel))] is wheel]


def filename(wheel: Mapping[str, Any]) -> str:
    """Return the file name of a wheel of a lock file."""
    if "name" in wheel:
        return str(wheel["name"])
    place = wheel.get("path") or unquote(urlsplit(str(wheel.get("url", ""))).path)
    return posixpath.basename(str(place).replace("\\", "/"))


def _tags(name: str) -> str:
    return "-".join(name.split("-")[-3:])


def build_tag(name: str) -> tuple[int, str]:
    """Return a wheel's build tag in the form in which build tags are compared; zero for none."""
    parts = name[: -len(".whl")].split("-") if name.endswith(".whl") else []
    if len(parts) != 6:
        return (0, "")
    digits = re.match(r"\d+", parts[2])
    return (int(digits.group()) if digits else 0, parts[2])


@dataclass(frozen=True)
class LockEnvironment:
    """One platform and one minor version of Python.

    Attributes:
        platform: As `Machine.platform` spells it, such as `linux_x86_64`.
        python: Such as `3.12`.
        marker: The platform as an environment marker (PEP 508); empty where nobody asked the interpreter.
    """

    platform: str
    python: str
    marker: str = ""

    def differences(self, other: LockEnvironment) -> list[str]:
        """Return why what holds for this one does not hold for another one; empty if it does."""
        found = [] if self.platform == other.platform else [f"it holds for {self.platform}, not for {other.platform}"]
        found += [] if self.python == other.python else [f"it holds for Python {self.python}, not for {other.python}"]
        return found


def make_lock_environment(sys_platform: str, processor: str, python: tuple[int, ...]) -> LockEnvironment:
    """Return what an interpreter runs on, from what it says about itself.

    >>> make_lock_environment("win32", "AMD64", (3, 12)).platform
    'windows_x86_64'
    """
    system = {"win32": "windows"}.get(sys_platform, sys_platform)
    platform = Machine(os=system, arch=arch(Host(system=system, machine=processor))).platform
    marker = f"sys_platform == '{sys_platform}' and platform_machine == '{processor}'"
    return LockEnvironment(platform, ".".join(map(str, python[:2])), marker)


def lock_environment_of(environment: Environment) -> LockEnvironment:
    """Return what the interpreter of an environment runs on, as it said itself."""
    return make_lock_environment(*environment.host, environment.version)


def check_machine(wanted: LockEnvironment, machine: Machine, remedy: str) -> None:
    """Raise a `UsageError` where wheels would be resolved for another platform than the machine's."""
    if machine.platform != wanted.platform:
        raise UsageError(
            f"the machine is {describe_platform(machine)}, but the wheels would be for {wanted.platform}",
            cause="uv and pip find those of the platform they run on",
            remedy=remedy,
        )
