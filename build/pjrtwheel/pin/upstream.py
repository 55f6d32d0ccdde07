# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read from upstream's wheels what a release needs to know: requirements, and JAX's commits they were built from."""

import re
import zipfile
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import Specifier
from packaging.utils import canonicalize_name
from packaging.version import Version

from pjrtwheel.backend import Backend, UpstreamExtra
from pjrtwheel.errors import PinError, WheelError
from pjrtwheel.pin.choose import Chosen
from pjrtwheel.platforms import host_platform
from pjrtwheel.release.model import Pin, Release
from pjrtwheel.wheel.members import open_wheel
from pjrtwheel.wheel.metadata import read_field

Extras = dict[str, dict[str, tuple[str, ...]]]  # backend → extra → what it requires

_MOST_BYTES = 2**20  # of a text file in a wheel
_ORDER = ("==", "~=", "===", ">=", ">", "<", "<=", "!=")  # of bounds
# JAX's build writes it into the version.py of every wheel.
_COMMIT = re.compile(r"^_git_hash: str = '([0-9a-f]{40})'$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class UpstreamWheel:
    """What two text files of a wheel say.

    Attributes:
        filename: Name of the wheel file.
        metadata: Text of METADATA.
        commit: The commit of JAX it was built from; empty if it does not say.
    """

    filename: str
    metadata: str
    commit: str

    def requires(self, extra: str) -> tuple[Requirement, ...]:
        """Return what an extra requires on Linux, without markers, in order of name.

        Raises:
            PinError: There is no such extra.
        """
        if canonicalize_name(extra) not in map(canonicalize_name, read_field(self.metadata, "Provides-Extra")):
            raise PinError(f"{self.filename} has no extra {extra!r}")
        requirements = [Requirement(line) for line in read_field(self.metadata, "Requires-Dist")]
        found = [entry for entry in requirements if _is_of_extra(entry, extra)]
        for entry in found:
            entry.marker = None
        return tuple(sorted(found, key=lambda entry: canonicalize_name(entry.name)))

    def find_version(self, extra: str, project: str) -> str:
        """Return the version of a project that an extra names, which may end in `.*`.

        Raises:
            PinError: It does not require one version of it.
        """
        for entry in self.requires(extra):
            versions = [item.version for item in entry.specifier if item.operator == "=="]
            if canonicalize_name(entry.name) == canonicalize_name(project) and len(versions) == 1:
                return versions[0]
        raise PinError(f"the extra {extra!r} of {self.filename} does not name one version of {project}")


def read_upstream(wheel: Path) -> UpstreamWheel:
    """Read METADATA and `version.py` of a wheel.

    Raises:
        PinError: It is no wheel, or is damaged or hostile.
    """
    try:
        with open_wheel(wheel) as archive:
            metadata = _read_text(archive, r"[^/]+\.dist-info/METADATA")
            commit = _COMMIT.search(_read_text(archive, r"([^/]+/)+version\.py"))
    except WheelError as error:
        raise PinError(f"cannot read {wheel.name}", cause=error.what, remedy=error.remedy) from error
    return UpstreamWheel(wheel.name, metadata, commit[1] if commit else "")


def take_over(table: UpstreamExtra, required: Iterable[Requirement]) -> tuple[str, ...]:
    """Return what our extra requires: upstream's requirements, with the bounds that a backend adds to them.

    Raises:
        PinError: A requirement has no floor, and the backend gives it none.
    """
    return tuple(_bound(table, entry) for entry in required)


def _bound(table: UpstreamExtra, entry: Requirement) -> str:
    name = canonicalize_name(entry.name)
    if not entry.specifier:
        if name not in table.bounds:
            what = f"{table.upstream} requires {name} in any version"
            raise PinError(what, remedy=f'give it bounds in the backend.toml: bounds = {{ {name} = ">=...,<..." }}')
        return f"{name}{table.bounds[name]}"
    bounds = sorted(entry.specifier, key=lambda item: _ORDER.index(item.operator))
    floor, upper = bounds[0], [item for item in bounds if item.operator in {"<", "<=", "==", "~="}]
    if table.same_major and not upper:
        bounds.append(Specifier(f"<{Version(floor.version).major + 1}"))
    return name + ",".join(map(str, bounds))


def _is_of_extra(requirement: Requirement, extra: str) -> bool:
    """Whether a requirement is one of an extra's, on Linux."""
    if requirement.marker is None:
        return False
    linux = {"sys_platform": "linux", "platform_system": "Linux"}
    with_extra, without = ({**linux, "extra": name} for name in (extra, ""))
    return requirement.marker.evaluate(with_extra) and not requirement.marker.evaluate(without)


def _read_text(archive: zipfile.ZipFile, pattern: str) -> str:
    """Return the member whose path matches, the one nearest to the top; nothing if there is none."""
    for name in sorted(archive.namelist(), key=lambda path: (path.count("/"), path)):
        if re.fullmatch(pattern, name) and archive.getinfo(name).file_size <= _MOST_BYTES:
            return archive.read(name).decode("utf-8")
    return ""


def gather_metadata(
    chosen: Chosen,
    old: Release | None,
    jax: UpstreamWheel | None,
    backends: Collection[Backend],
    read: Callable[[Pin], UpstreamWheel],
) -> tuple[dict[str, str], Extras]:
    """Return commits and extras as upstream's wheels have them; of those that were pinned before, as they had them."""
    fresh = [pin for pin in chosen.pins if old is None or old.pins.get(pin.key) != pin]
    first = _first_of_each(fresh, _projects_of_jax(backends))
    wheels = {project: read(pin) for project, pin in first.items()} | ({"jax": jax} if jax else {})
    commits, extras = _keep_metadata(old, chosen) if old else ({}, {})
    commits |= {name: wheel.commit for name, wheel in wheels.items() if wheel.commit}
    return commits, extras | _find_extras(backends, wheels)


def _keep_metadata(old: Release, chosen: Chosen) -> tuple[dict[str, str], Extras]:
    """Return the commits of the projects that are still pinned, and the extras of the backends that have a library."""
    projects = {"jax", *(pin.project for pin in chosen.pins)}
    backends = {pin.key.split(".")[1] for pin in chosen.pins if pin.key.startswith("plugin.")}
    return (
        {project: commit for project, commit in old.commits.items() if project in projects},
        {backend: extras for backend, extras in old.extras.items() if backend in backends},
    )


def _first_of_each(pins: Iterable[Pin], projects: Iterable[str]) -> dict[str, Pin]:
    """Return one wheel of each of some projects: that for this machine, if there is one, as builds need it too."""
    host = host_platform().name
    best_last = sorted(pins, key=lambda pin: (not pin.key.endswith(host), pin.key), reverse=True)
    found = {pin.project: pin for pin in best_last}
    return {project: found[project] for project in projects if project in found}


def _projects_of_jax(backends: Iterable[Backend]) -> tuple[str, ...]:
    """Return the projects whose wheels say from which commit of JAX they were built."""
    libraries = [backend.prebuilt.project for backend in backends if backend.prebuilt.bundled]
    kernels = [backend.kernels.project for backend in backends if backend.kernels]
    return ("jaxlib", *libraries, *kernels)


def _find_extras(backends: Iterable[Backend], wheels: Mapping[str, UpstreamWheel]) -> Extras:
    """Return, by backend, what those extras require that follow upstream's; none of a backend that is absent."""
    found: Extras = {}
    for backend in backends:
        for extra, table in backend.extras.items():
            if isinstance(table, UpstreamExtra) and (upstream := Requirement(table.upstream)).name in wheels:
                (name,) = upstream.extras
                required = take_over(table, wheels[upstream.name].requires(name))
                found.setdefault(backend.name, {})[extra] = required
    return found
