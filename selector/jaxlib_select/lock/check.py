# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read a lock, and say whether it and a machine still agree."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxlib_select.decision import Decision
from jaxlib_select.errors import LockError
from jaxlib_select.install.commands import show
from jaxlib_select.lock.arguments import unpack_arguments
from jaxlib_select.lock.document import LOCK_VERSION, SCHEMA, TOOL, Group, digest, packages_of
from jaxlib_select.lock.forms import PYLOCK, body_digest, form_of, read_requirements
from jaxlib_select.lock.target import Target, target_from


@dataclass(frozen=True)
class Lock:
    """A lock that was read.

    Attributes:
        path: The file.
        package: The package it is about, such as `jax`.
        asked: The backend that was asked for when it was written, such as `auto`.
        default: The group that is installed by default.
        groups: Every group it can install.
        target: What it holds for.
        edited: Whether somebody changed it since it was written.
        arguments: With which other arguments it was written, such as `--find-links DIR`.
        document: All of it; empty for a requirements file.
    """

    path: Path
    package: str
    asked: str
    default: str
    groups: Mapping[str, Group]
    target: Target
    edited: bool
    arguments: tuple[str, ...]
    document: Mapping[str, Any]


def read_lock(path: Path) -> Lock:
    """Read a lock.

    Raises:
        UsageError: The file's name is not that of a lock.
        LockError: It cannot be read, or was not written by `jaxlib-select lock`.
    """
    form = form_of(path)
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeError) as error:
        cause = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise LockError(f"cannot read {path}", cause=cause, remedy="write one: jaxlib-select lock jax") from error
    try:
        return _read_pylock(path, tomllib.loads(text)) if form == PYLOCK else _read_requirements(path, text)
    except tomllib.TOMLDecodeError as error:
        raise LockError(f"not a TOML file: {path}", cause=str(error)) from error
    except (KeyError, TypeError, AttributeError) as error:
        raise _foreign(f"it lacks {error}", f": {path}") from error
    except LockError as error:
        raise LockError(f"{error.what}: {path}", cause=error.cause, remedy=error.remedy) from error


def _read_pylock(path: Path, document: dict[str, Any]) -> Lock:
    version = document["lock-version"]
    if version != LOCK_VERSION:
        raise LockError(f"lock version {version!r} is not known here", remedy=f"known: {LOCK_VERSION}")
    evidence = document["tool"][TOOL]
    _check_schema(evidence)
    for index, package in enumerate(document["packages"]):
        _check_package(package, f"packages[{index}]")
    groups, default = list(document["dependency-groups"]), list(document["default-groups"])
    if len(default) != 1 or default[0] not in groups:
        raise LockError(
            f"default-groups is {default!r}",
            cause=f"the file was edited: expected one of {', '.join(map(str, groups))}",
            remedy=f"write it again: jaxlib-select lock {evidence['package']}",
        )
    return Lock(
        path=path,
        package=str(evidence["package"]),
        asked=str(evidence["asked"]),
        default=str(default[0]),
        groups={str(name): _read_group(document, str(name), evidence["groups"][name]) for name in groups},
        target=target_from(evidence),
        edited=evidence["digest"] != digest(document),
        arguments=_read_arguments(path, evidence),
        document=document,
    )


def _check_package(package: Any, where: str) -> None:
    """Make sure that a package has what installing it takes.

    Raises:
        LockError: It has not.
    """
    try:
        files = [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
        texts = [package["name"], package["version"], package.get("marker", "")]
        texts += [file["hashes"]["sha256"] for file in files]
        odd = next((text for text in texts if not isinstance(text, str)), None)
        problem = f"{odd!r} is no text" if odd is not None else ""
    except KeyError as error:
        problem = f"it lacks {error}"
    except (TypeError, AttributeError) as error:
        problem = str(error)
    if problem:
        raise LockError("damaged lock", cause=f"{where}: {problem}", remedy="write it again: jaxlib-select lock jax")


def _read_group(document: Mapping[str, Any], name: str, asked: Mapping[str, Any]) -> Group:
    requirements = tuple(map(str, asked["requirements"]))
    return Group(name, str(asked["backend"]), requirements, tuple(packages_of(document, name)))


def _read_arguments(path: Path, evidence: Mapping[str, Any]) -> tuple[str, ...]:
    return unpack_arguments(list(map(str, evidence.get("arguments", []))), path.parent)


def _read_requirements(path: Path, text: str) -> Lock:
    evidence = read_requirements(text)
    if not evidence:
        raise _foreign("its first line is not a comment of jaxlib-select")
    _check_schema(evidence)
    backend = str(evidence["backend"])
    return Lock(
        path=path,
        package=str(evidence["package"]),
        asked=str(evidence["asked"]),
        default=backend,
        groups={backend: Group(backend, backend, tuple(map(str, evidence["requirements"])), ())},
        target=target_from(evidence),
        edited=evidence["digest"] != body_digest(evidence["body"]),
        arguments=_read_arguments(path, evidence),
        document={},
    )


def _foreign(cause: str, where: str = "") -> LockError:
    return LockError(
        f"not a lock of jaxlib-select{where}", cause=cause, remedy="write one: jaxlib-select lock jax -o pylock.toml"
    )


def _check_schema(evidence: Mapping[str, Any]) -> None:
    """Make sure that a lock was written by a version that writes as this one does.

    Raises:
        LockError: It was not.
    """
    if evidence["schema"] != SCHEMA:
        raise LockError(
            f"lock of schema {evidence['schema']!r}, known here is {SCHEMA}",
            cause="another version of jaxlib-select wrote it",
            remedy=f"take that version, or write the lock again: jaxlib-select lock {evidence.get('package', 'jax')}",
        )


def find_differences(lock: Lock, decision: Decision, here: Target) -> list[str]:
    """Return why a lock and a machine do not agree; empty if they do.

    Args:
        lock: The lock.
        decision: What the machine wants.
        here: Platform of the machine, and the Python to install for.
    """
    found = []
    again = write_again(lock)
    if lock.edited:
        found.append(f"{lock.path} was changed by hand since it was written; write it again: {again}")
    misfits = lock.target.differences(here)
    found += [f"{lock.path} does not fit: {misfit}; write another one there: {again}" for misfit in misfits]
    group, wanted = lock.groups[lock.default], (*decision.requirements, *decision.constraints)
    if (group.backend, group.requirements) != (decision.backend, wanted):
        remedy = again if misfits else _find_remedy(lock, decision, wanted) or again
        found.append(f"{_compare(group, decision, wanted)}; run: {remedy}")
    return found


def write_again(lock: Lock) -> str:
    """Return the command that writes a lock again."""
    return show(["jaxlib-select", "lock", lock.package, *lock.arguments, "-o", str(lock.path)])


def _compare(group: Group, decision: Decision, wanted: tuple[str, ...]) -> str:
    """Say in what the default of a lock is not what a machine wants."""
    if group.backend == decision.backend:
        return f"the lock has {', '.join(group.requirements)}, this machine wants {', '.join(wanted)}"
    reason = next((entry.reason for entry in decision.candidates if entry.chosen), "")
    return f"the lock is for {group.backend}, this machine wants {decision.backend} ({reason})"


def _find_remedy(lock: Lock, decision: Decision, wanted: tuple[str, ...]) -> str:
    """Return the command that installs another group of a lock, if there is one with the very bounds of a machine."""
    asked = (decision.backend, wanted)
    name = next((name for name, group in lock.groups.items() if (group.backend, group.requirements) == asked), None)
    return show(["jaxlib-select", "apply", str(lock.path), "--group", name]) if name is not None else ""
