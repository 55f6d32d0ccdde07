# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Gather what upstream's wheels say of a release: the commits of JAX that they were built from, and their extras."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from packaging.requirements import Requirement

from pjrtwheel.backend import Backend, UpstreamExtra
from pjrtwheel.pin.choose import Chosen
from pjrtwheel.pin.upstream import UpstreamWheel, take_over
from pjrtwheel.platforms import host_platform
from pjrtwheel.release.model import Pin, Release


@dataclass(frozen=True, slots=True)
class ReleaseMetadata:
    """What upstream's wheels say of themselves, as `Release` has it."""

    commits: dict[str, str]
    extras: dict[str, dict[str, tuple[str, ...]]]


def gather_metadata(
    chosen: Chosen,
    old: Release | None,
    jax: UpstreamWheel | None,
    backends: Collection[Backend],
    read: Callable[[Pin], UpstreamWheel],
) -> ReleaseMetadata:
    """Return what upstream's wheels say; of those that were pinned before, what they said then."""
    fresh = [pin for pin in chosen.pins if old is None or old.pins.get(pin.key) != pin]
    first = _first_of_each(fresh, _projects_of_jax(backends))
    wheels = {project: read(pin) for project, pin in first.items()} | ({"jax": jax} if jax else {})
    kept = _keep_metadata(old, chosen) if old else ReleaseMetadata({}, {})
    return ReleaseMetadata(
        commits=kept.commits | {name: wheel.commit for name, wheel in wheels.items() if wheel.commit},
        extras=kept.extras | _find_extras(backends, wheels),
    )


def _keep_metadata(old: Release, chosen: Chosen) -> ReleaseMetadata:
    """Return the commits of the projects that are still pinned, and the extras of the backends that have a library."""
    projects = {"jax", *(pin.project for pin in chosen.pins)}
    backends = {pin.key.split(".")[1] for pin in chosen.pins if pin.key.startswith("plugin.")}
    return ReleaseMetadata(
        commits={project: commit for project, commit in old.commits.items() if project in projects},
        extras={backend: extras for backend, extras in old.extras.items() if backend in backends},
    )


def _first_of_each(pins: Iterable[Pin], projects: Iterable[str]) -> dict[str, Pin]:
    """Return one wheel of each of some projects: that for this machine, if there is one, as builds need it too."""
    host = host_platform().name
    found: dict[str, Pin] = {}
    for pin in sorted(pins, key=lambda pin: (not pin.key.endswith(host), pin.key)):
        found.setdefault(pin.project, pin)
    return {project: found[project] for project in projects if project in found}


def _projects_of_jax(backends: Iterable[Backend]) -> tuple[str, ...]:
    """Return the projects whose wheels say from which commit of JAX they were built."""
    libraries = [backend.prebuilt.project for backend in backends if backend.prebuilt.bundled]
    kernels = [backend.kernels.project for backend in backends if backend.kernels]
    return ("jaxlib", *libraries, *kernels)


def _find_extras(
    backends: Iterable[Backend], wheels: Mapping[str, UpstreamWheel]
) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return, by backend, what those extras require that follow upstream's; none of a backend that is absent."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for backend in backends:
        for extra, table in backend.extras.items():
            if isinstance(table, UpstreamExtra) and (upstream := Requirement(table.upstream)).name in wheels:
                (name,) = upstream.extras
                required = take_over(table, wheels[upstream.name].requires(name))
                found.setdefault(backend.name, {})[extra] = required
    return found
