# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Compare a release with the one before: what is in their files, in the selector's facts, and in finished wheels."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from packaging.requirements import Requirement

from jaxlib_select.facts import Facts
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.release.model import Release

_COMMIT = 12  # characters by which a commit is shown


@dataclass(frozen=True, slots=True)
class Row:
    """What one thing was and is; empty where it was or is not there."""

    name: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def is_changed(self) -> bool:
        """Whether it differs, the order apart."""
        return set(self.before) != set(self.after)

    @property
    def added(self) -> tuple[str, ...]:
        """What is new in it."""
        return tuple(value for value in self.after if value not in self.before)

    @property
    def removed(self) -> tuple[str, ...]:
        """What is gone from it."""
        return tuple(value for value in self.before if value not in self.after)


@dataclass(frozen=True, slots=True)
class SizeRow:
    """The mean length in bytes of the wheels of a project for a platform; 0 where there is none."""

    name: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class FinishedPlugin:
    """What a finished plugin wheel shows, beyond what the selector's facts say.

    Attributes:
        name: Distribution and platform.
        pjrt_api: Version of the PJRT API that its library reported in a proof; empty without one that opened it.
        exports: The symbols that its library defines for others; nothing where the wheel has no library.
    """

    name: str
    pjrt_api: str
    exports: tuple[str, ...]


def compare(before: Mapping[str, Iterable[str]], after: Mapping[str, Iterable[str]]) -> tuple[Row, ...]:
    """Return a row for everything that is in either, in order of name."""
    names = sorted(before.keys() | after.keys())
    return tuple(Row(name, tuple(before.get(name, ())), tuple(after.get(name, ()))) for name in names)


def compare_pythons(before: Release, after: Release) -> tuple[Row, ...]:
    """Compare the Pythons that there are bindings and kernels for, by platform."""
    return compare(_pythons(before), _pythons(after))


def compare_platforms(before: Release, after: Release, backends: Collection[str]) -> tuple[Row, ...]:
    """Compare the platforms that there are libraries for, by backend."""
    old, new = ({name: release.platforms(name) for name in backends} for release in (before, after))
    return compare(old, new)


def compare_versions(before: Release, after: Release) -> tuple[Row, ...]:
    """Compare the versions of those inputs that are not of JAX's version, in either release."""
    old, new = _versions(before), _versions(after)
    usual = {name for name in old.keys() | new.keys() if _is_usual(before, old, name) and _is_usual(after, new, name)}
    return tuple(row for row in compare(old, new) if row.name not in usual)


def compare_requirements(before: Release, after: Release) -> tuple[Row, ...]:
    """Compare what the extras require that follow upstream's, for the backends that both releases have."""
    common = before.extras.keys() & after.extras.keys()
    old, new = _requirements(before, common), _requirements(after, common)
    return compare(old, new)


def compare_commits(before: Release, after: Release) -> tuple[Row, ...]:
    """Compare the commits of JAX that the inputs were built from."""
    old, new = ({name: (commit[:_COMMIT],) for name, commit in entry.commits.items()} for entry in (before, after))
    return compare(old, new)


def compare_code(before: Facts, after: Facts) -> tuple[Row, ...]:
    """Compare the lists of GPU code, by backend and platform."""
    return compare(_code(before), _code(after))


def compare_inputs(before: Release, after: Release) -> tuple[SizeRow, ...]:
    """Compare the sizes of what comes from the package index for a release: bindings, kernels and libraries."""
    return compare_sizes(_input_sizes(before), _input_sizes(after))


def compare_sizes(before: Mapping[str, list[int]], after: Mapping[str, list[int]]) -> tuple[SizeRow, ...]:
    """Compare the mean lengths of files, in order of name."""
    names = sorted(before.keys() | after.keys())
    return tuple(SizeRow(name, _mean(before.get(name, [])), _mean(after.get(name, []))) for name in names)


def compare_plugins(
    before: Iterable[FinishedPlugin], after: Iterable[FinishedPlugin], read: Callable[[FinishedPlugin], tuple[str, ...]]
) -> tuple[Row, ...]:
    """Compare what plugins show that were built of both releases."""
    old, new = ({plugin.name: read(plugin) for plugin in plugins} for plugins in (before, after))
    common = old.keys() & new.keys()
    return tuple(row for row in compare(old, new) if row.name in common)


def newly_absent(before: Release, after: Release) -> dict[str, tuple[str, ...]]:
    """Return what the index does not have now and did not lack before: its answer → the keys it is about."""
    known = {entry.key for entry in before.absent}
    found: dict[str, tuple[str, ...]] = {}
    for entry in after.absent:
        if entry.key not in known:
            found[entry.cause] = (*found.get(entry.cause, ()), entry.key)
    return found


def newly_present(before: Release, after: Release) -> tuple[str, ...]:
    """Return the keys of what the index lacked before and has now."""
    return tuple(entry.key for entry in before.absent if entry.key in after.pins)


def _pythons(release: Release) -> dict[str, tuple[str, ...]]:
    found = {f"jaxlib {platform}": release.pythons(platform) for platform in PLATFORMS}
    for kind, backend, *_ in (key.split(".") for key in release.pins):
        if kind == "kernels":
            names = ((f"{backend} kernels {platform}", release.kernels(backend, platform)) for platform in PLATFORMS)
            found.update((name, tags) for name, tags in names if tags)
    return found


def _versions(release: Release) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for pin in release.pins.values():
        found[pin.project] = tuple(sorted({*found.get(pin.project, ()), pin.version}))
    return found


def _is_usual(release: Release, versions: Mapping[str, tuple[str, ...]], project: str) -> bool:
    return versions.get(project, (release.version,)) == (release.version,)


def _requirements(release: Release, backends: Collection[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for backend in backends:
        for extra, requires in release.extras[backend].items():
            for requirement in map(Requirement, requires):
                found[f"{backend}[{extra}] {requirement.name}"] = (_floor_first(requirement),)
    return found


def _floor_first(requirement: Requirement) -> str:
    """Return the bounds of a requirement, the floor before the ceiling.

    >>> _floor_first(Requirement("nvidia-cudnn-cu13<10,>=9.12"))
    '>=9.12,<10'
    """
    return ",".join(sorted(map(str, requirement.specifier), key=lambda bound: (bound[0] == "<", bound)))


def _code(facts: Facts) -> dict[str, tuple[str, ...]]:
    return {f"{entry.name} {platform}": code for entry in facts.backends for platform, code in entry.code.items()}


def _input_sizes(release: Release) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for pin in release.pins.values():
        kind, *_, platform = pin.key.split(".")
        if kind in {"bindings", "kernels", "plugin"}:
            found.setdefault(f"{pin.project} {platform}", []).append(pin.size)
    return found


def _mean(sizes: list[int]) -> int:
    return sum(sizes) // len(sizes) if sizes else 0
