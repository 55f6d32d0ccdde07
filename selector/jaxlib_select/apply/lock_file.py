# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read and write lock files, say whether one and a machine still agree, and install from one with any installer.

Old versions of pip get a lock as a requirements file.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jaxlib_select import tables
from jaxlib_select.apply.formats import PYLOCK, format_of, only_about, write_requirements
from jaxlib_select.apply.installer import Installer, has_foreign_jaxlib, is_ours, show
from jaxlib_select.apply.locations import local_file, sources_in, unpack_arguments
from jaxlib_select.apply.pylock import (
    LOCK_VERSION,
    SCHEMA,
    TOOL,
    Evidence,
    Group,
    LockEnvironment,
    Table,
    digest,
    packages_of,
)
from jaxlib_select.choose.decision import Decision
from jaxlib_select.errors import LockError, UsageError
from jaxlib_select.installed.environment import Environment
from jaxlib_select.names import normalize, squeeze, suggest
from jaxlib_select.tables import column
from jaxlib_select.versions import read_version


@dataclass(frozen=True, slots=True)
class LockFile:
    """A lock file that was read.

    Attributes:
        evidence: What it was made from; its folders are named as they are reached from here.
        edited: Whether somebody changed it since it was written.
        document: All of it.
    """

    path: Path
    evidence: Evidence
    default: str
    groups: Mapping[str, Group]
    edited: bool
    document: Mapping[str, Any]

    @property
    def environment(self) -> LockEnvironment:
        """What it holds for."""
        return LockEnvironment(self.evidence.platform, self.evidence.python)


@dataclass(frozen=True, slots=True)
class _Tool:
    evidence: Evidence = column(key=TOOL)  # noqa: RUF009  # `field` of dataclasses


@dataclass(frozen=True, slots=True)
class _Pylock:
    """A `pylock.toml` as far as this program needs it to be its own."""

    packages: tuple[Any, ...]
    tool: _Tool
    names: tuple[str, ...] = column(key="dependency-groups")
    default: tuple[str, ...] = column(key="default-groups")


@dataclass(frozen=True, slots=True)
class _Hashes:
    sha256: str


@dataclass(frozen=True, slots=True)
class _File:
    hashes: _Hashes


@dataclass(frozen=True, slots=True)
class _Package:
    """What installing a package takes."""

    name: str
    version: str
    marker: str = ""
    wheels: tuple[_File, ...] = ()
    sdist: _File | None = None


def read_lock(path: Path) -> LockFile:
    """Read a lock file.

    Raises:
        UsageError: The file's name is not that of a `pylock.toml`.
        LockError: It cannot be read, or was not written by `jaxlib-select lock`.
    """
    if format_of(path) != PYLOCK:
        raise UsageError(
            f"only a pylock.toml says what it was made for, not {path}", remedy=f"uv pip install -r {path}"
        )
    try:
        return _read_pylock(path, tomllib.loads(path.read_text("utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise LockError(f"not a TOML file: {path}", cause=str(error)) from error
    except tables.TableError as error:
        remedy = "write one: jaxlib-select lock jax -o pylock.toml"
        raise LockError(f"not a lock of jaxlib-select: {path}", cause=str(error), remedy=remedy) from error
    except (OSError, UnicodeError) as error:
        cause = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise LockError(f"cannot read {path}", cause=cause, remedy="write one: jaxlib-select lock jax") from error


def write_text(path: Path, text: str) -> None:
    """Write a file next to its place, flush it, and move it there.

    Raises:
        LockError: It cannot be written; what was there before is as it was.
    """
    try:
        descriptor, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink()
            raise
    except OSError as error:
        raise LockError(f"cannot write {path}", cause=error.strerror or str(error)) from error


def _read_pylock(path: Path, document: dict[str, Any]) -> LockFile:
    if (version := document.get("lock-version")) not in {LOCK_VERSION, None}:
        raise LockError(f"lock version {version!r} is not known here: {path}", remedy=f"known: {LOCK_VERSION}")
    head = tables.read(_Pylock, document)
    evidence = _checked(path, head.tool.evidence)
    try:
        for index, package in enumerate(head.packages):
            tables.read(_Package, package, f"packages[{index}]")
    except tables.TableError as error:
        remedy = "write it again: jaxlib-select lock jax"
        raise LockError(f"damaged lock: {path}", cause=str(error), remedy=remedy) from error
    if len(head.default) != 1 or head.default[0] not in head.names or not evidence.groups.keys() >= set(head.names):
        raise LockError(
            f"default-groups is {list(head.default)}: {path}",
            cause=f"the file was edited: expected one of {', '.join(head.names)}",
            remedy=f"write it again: jaxlib-select lock {evidence.package}",
        )
    groups = {}
    for name in head.names:
        asked = evidence.groups[name]
        groups[name] = Group(name, asked.backend, asked.requirements, tuple(packages_of(document, name)))
    return LockFile(path, evidence, head.default[0], groups, evidence.digest != digest(document), document)


def _checked(path: Path, evidence: Evidence) -> Evidence:
    """Return the evidence of a lock file that a version wrote which writes as this one does."""
    if evidence.schema != SCHEMA:
        raise LockError(
            f"lock of schema {evidence.schema!r}, known here is {SCHEMA}: {path}",
            cause="another version of jaxlib-select wrote it",
            remedy=f"take that version, or write the lock again: jaxlib-select lock {evidence.package}",
        )
    return replace(evidence, arguments=unpack_arguments(evidence.arguments, path.parent))


def find_differences(lock: LockFile, decision: Decision, here: LockEnvironment) -> list[str]:
    """Return why a lock and a machine do not agree; empty if they do."""
    found = []
    again = write_again(lock)
    if lock.edited:
        found.append(f"{lock.path} was changed by hand since it was written; write it again: {again}")
    misfits = lock.environment.differences(here)
    found += [f"{lock.path} does not fit: {misfit}; write another one there: {again}" for misfit in misfits]
    group, wanted = lock.groups[lock.default], (*decision.requirements, *decision.constraints)
    if (group.backend, group.requirements) != (decision.backend, wanted):
        remedy = again if misfits else _find_remedy(lock, decision, wanted) or again
        found.append(f"{_compare(group, decision, wanted)}; run: {remedy}")
    return found


def write_again(lock: LockFile) -> str:
    """Return the command that writes a lock again."""
    return show(["jaxlib-select", "lock", lock.evidence.package, *lock.evidence.arguments, "-o", str(lock.path)])


def _compare(group: Group, decision: Decision, wanted: tuple[str, ...]) -> str:
    if group.backend == decision.backend:
        return f"the lock has {', '.join(group.requirements)}, this machine wants {', '.join(wanted)}"
    reason = next((entry.reason for entry in decision.candidates if entry.chosen), "")
    return f"the lock is for {group.backend}, this machine wants {decision.backend} ({reason})"


def _find_remedy(lock: LockFile, decision: Decision, wanted: tuple[str, ...]) -> str:
    """Return the command that installs another group of a lock, if there is one with the very bounds of a machine."""
    asked = (decision.backend, wanted)
    name = next((name for name, group in lock.groups.items() if (group.backend, group.requirements) == asked), None)
    return show(["jaxlib-select", "apply", str(lock.path), "--group", name]) if name is not None else ""


# The first version of pip that takes a dependency group from pylock.toml.
_PIP_WITH_GROUPS = (26, 3)


Commands = tuple[tuple[str, ...], ...]


def choose_group(lock: LockFile, asked: str | None) -> str:
    """Return the group to install; a `UsageError` if the lock has none of that name."""
    wanted = asked if asked is not None else lock.default
    group = next((name for name in lock.groups if squeeze(name) == squeeze(wanted)), None)
    if group is None:
        raise UsageError(
            f"{lock.path} has no group {wanted!r}",
            cause=suggest(wanted, lock.groups),
            remedy=f"known groups: {', '.join(lock.groups)}",
        )
    return group


def versions_of(lock: LockFile, group: str) -> dict[str, str]:
    """Return the distributions that a group installs, with their versions."""
    return {normalize(package["name"]): package["version"] for package in lock.groups[group].packages}


@contextlib.contextmanager
def apply_lock(
    lock: LockFile, group: str, environment: Environment, installer: Installer
) -> Iterator[tuple[Commands, tuple[Path, ...]]]:
    """Return the commands that install a group, and the files that they need, which are there for the block only."""
    versions = versions_of(lock, group)
    again = any(map(is_ours, versions)) and has_foreign_jaxlib(environment, versions.get("jaxlib", ""))
    if installer.kind == "uv":
        named = ("--group", group) if group != lock.default else ()
        forced = ("--reinstall-package", "jaxlib") if again else ()
        yield (installer.install(("-r", str(lock.path), *named), *forced),), ()
        return
    with tempfile.TemporaryDirectory(prefix="jaxlib-select-") as name:
        folder = Path(name)
        exchange = (_exchange_jaxlib(lock, group, installer, folder),) if again else ()
        commands = (*exchange, _with_pip(lock, group, environment, installer, folder))
        yield commands, tuple(sorted(folder.iterdir()))


def _with_pip(
    lock: LockFile, group: str, environment: Environment, installer: Installer, folder: Path
) -> tuple[str, ...]:
    """Return the command of pip that installs a group, as a requirements file if it is too old for groups."""
    path = str(lock.path)
    if (read_version(environment.version_of("pip") or "") or ()) >= _PIP_WITH_GROUPS:
        named = ("-r", path) if group == lock.default else ("--group", f"{path}:{group}")
        return installer.install(named)
    file = folder / "requirements.txt"
    file.write_text(_as_requirements(lock, group, installer), "utf-8")
    return installer.install(("-r", str(file)), "--no-deps")


def _exchange_jaxlib(lock: LockFile, group: str, installer: Installer, folder: Path) -> tuple[str, ...]:
    """Return the command of pip that installs the jaxlib of a lock over another one of the same version."""
    file = folder / "jaxlib.txt"
    file.write_text(only_about("jaxlib", _as_requirements(lock, group, installer)), "utf-8")
    return installer.reinstall(("-r", str(file)))


def _as_requirements(lock: LockFile, group: str, installer: Installer) -> str:
    packages = lock.groups[group].packages
    sources = () if installer.sources else sources_in(lock.evidence.arguments)
    found = [*sources, *_link_options(packages, lock.path.absolute().parent)]
    plain = [{key: value for key, value in package.items() if key != "marker"} for package in packages]
    return write_requirements(replace(lock.groups[group], packages=tuple(plain)), found)


def _link_options(packages: Sequence[Table], home: Path) -> list[str]:
    wheels = [wheel for package in packages for wheel in package.get("wheels", [])]
    places = [home / wheel["path"] if "path" in wheel else local_file(wheel.get("url", "")) for wheel in wheels]
    folders = dict.fromkeys(str(place.parent) for place in places if place is not None)
    return [text for folder in folders for text in ("--find-links", folder)]
